package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"halfnote/display"
)

const (
	batchTime = 10 * time.Millisecond
	batchSize = 32 << 10 // bytes
	lastWords = 100 * time.Millisecond
)

// output is the Output of one cell. Text is gathered into few stream messages, which
// are sent after batchTime, at batchSize bytes, and before any other message of the
// cell.
type output struct {
	k      *kernel
	r      *request
	silent bool
	stdin  bool             // whether the front end accepts input requests
	kept   *keptCell        // keeps the outputs; nil if they are not kept
	over   atomic.Bool      // whether only the idle status is left to send
	lines  *display.Printer // prints outputs that change, for a terminal; nil for other front ends

	mu      sync.Mutex
	ctx     context.Context // context of the cell; after its end the kernel's
	current *stream         // stream of the gathered text
	text    []byte
	armed   bool // whether a flush is due
	lost    int  // bytes that could not be sent
	stdout  stream
	stderr  stream
}

// inTerminal prepares o for a front end that is a terminal, such as jupyter console, and ignores updates of outputs.
// Notebooks are recognised by the cell id in r's metadata, nbclient and papermill by an empty user name or the lack of stdin. A
// wrong guess does little harm: other front ends can rewrite lines too.
func (o *output) inTerminal(r *request) {
	var in struct {
		Cell *string `json:"cellId"`
	}
	json.Unmarshal(r.Metadata, &in) // the zero value stands for malformed metadata
	if o.stdin && r.Header.Username != "" && in.Cell == nil {
		o.lines = display.NewPrinter(rewriter{&o.stdout}, true)
	}
}

// rewriter writes to a stream without ending the lines of outputs that change.
type rewriter struct{ *stream }

func (w rewriter) Write(p []byte) (int, error) { return w.write(p) }

// stream is one of a cell's two text streams.
type stream struct {
	o    *output
	name string
	part []byte // bytes that flush kept back
}

func newOutput(k *kernel, r *request, ctx context.Context) *output {
	// A comm may keep its cell's output for long; it must not keep the cell's source
	// too.
	o := &output{k: k, r: &request{Message: Message{Prefix: r.Prefix, Header: r.Header}}, ctx: ctx}
	o.stdout = stream{o: o, name: "stdout"}
	o.stderr = stream{o: o, name: "stderr"}
	o.current = &o.stdout
	return o
}

func (o *output) Stdout() io.Writer { return &o.stdout }
func (o *output) Stderr() io.Writer { return &o.stderr }

// Write adds p to the stream, as [stream.write] does, below the lines of outputs that change.
func (s *stream) Write(p []byte) (n int, err error) {
	if s.o.lines != nil && len(p) > 0 {
		s.o.lines.Newline()
	}
	return s.write(p)
}

// write adds p to the stream. It fails if the cell was interrupted while front ends
// were slow to read; the rest of p is then lost.
func (s *stream) write(p []byte) (n int, err error) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() {
		if err != nil {
			o.lost += len(p) - n
		}
	}()
	if o.silent || len(p) == 0 {
		return len(p), nil
	}
	if o.current != s {
		if err := o.flush(false); err != nil {
			return 0, err
		}
		o.current = s
	}
	if len(o.text) == 0 {
		o.text = append(o.text, s.part...)
		s.part = nil
	}
	for n < len(p) {
		m := min(len(p)-n, batchSize-len(o.text))
		o.text = append(o.text, p[n:n+m]...)
		n += m
		if len(o.text) < batchSize {
			break
		}
		if err := o.flushTo(wholeLines(o.text)); err != nil {
			return n, err
		}
		o.text = append(o.text, s.part...)
		s.part = nil
	}
	if !o.armed && len(o.text) > 0 {
		o.armed = true
		time.AfterFunc(batchTime, o.due)
	}
	return n, nil
}

func (o *output) due() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.armed = false
	o.flush(false)
}

// flush sends the gathered text. It keeps back an incomplete character at the end,
// unless all is set.
func (o *output) flush(all bool) error {
	if all {
		return o.flushTo(len(o.text))
	}
	return o.flushTo(wholeRunes(o.text))
}

// flushTo sends the first n gathered bytes.
func (o *output) flushTo(n int) error {
	s := o.current
	text := string(o.text[:n])
	s.part = append(s.part, o.text[n:]...)
	o.text = o.text[:0]
	if text == "" {
		return nil
	}
	o.kept.print(s.name, text)
	err := o.publish("stream", Message{Content: streamContent(s.name, text)})
	if err != nil {
		o.lost += len(text)
	}
	return err
}

// publish sends a message of the cell. Messages of an interrupted cell are still sent,
// but do not wait for slow front ends.
func (o *output) publish(msgType string, m Message) error {
	m.Parent = o.r.Header
	err := o.k.iopub.publishMessage(o.ctx, msgType, m)
	if err != nil && o.ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(o.k.life, lastWords)
		defer cancel()
		err = o.k.iopub.publishMessage(ctx, msgType, m)
	}
	return err
}

// wholeLines returns how many bytes of b to send together: up to the end of the last
// line, for front ends that show each message separately, or the result of wholeRunes
// if that line is long.
func wholeLines(b []byte) int {
	if n := bytes.LastIndexByte(b, '\n') + 1; n > len(b)/2 {
		return n
	}
	return wholeRunes(b)
}

// wholeRunes returns the length of b without an incomplete character at its end.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax+1; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				break
			}
			return i
		}
	}
	return len(b)
}

// say publishes a message of the cell, after the text that preceded it.
func (o *output) say(msgType string, content object) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(false)
	o.kept.say(msgType, content)
	if err := o.publish(msgType, Message{Content: mustEncode(content)}); err != nil && o.k.life.Err() == nil {
		o.k.log.Printf("iopub: %s: %v", msgType, err)
	}
}

func (o *output) sayMessage(msgType string, m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush(false)
	return o.publish(msgType, m)
}

func (o *output) Display(b display.Bundle) {
	if o.lines != nil {
		if b.ID != "" && !strings.Contains(b.String(), "\n") {
			o.lines.Display(b)
			return
		}
		o.lines.Newline()
	}
	o.say("display_data", displayed(b))
}

func (o *output) Update(b display.Bundle) {
	switch {
	case o.lines == nil:
		o.say("update_display_data", displayed(b))
	case strings.Contains(b.String(), "\n"):
		o.Display(b)
	default:
		o.lines.Update(b)
	}
}

func (o *output) Clear(wait bool) { o.say("clear_output", object{"wait": wait}) }

func displayed(b display.Bundle) object {
	transient := object{}
	if b.ID != "" {
		transient["display_id"] = b.ID
	}
	data, metadata := bundle(b)
	return object{"data": data, "metadata": metadata, "transient": transient}
}

// end sends all gathered text, and a notice of lost bytes. Text written later is still
// sent, as output of this cell.
func (o *output) end() {
	if o.lines != nil {
		o.lines.Newline()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx = o.k.life
	o.flush(true)
	for _, s := range []*stream{&o.stdout, &o.stderr} {
		if len(s.part) > 0 {
			o.current, o.text, s.part = s, append(o.text, s.part...), nil
			o.flush(true)
		}
	}
	if o.lost > 0 {
		o.publish("stream", Message{Content: streamContent("stderr", o.lostText(o.lost))})
		o.lost = 0
	}
}
