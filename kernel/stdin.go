package kernel

import (
	"bytes"
	"context"
	"errors"
	"sync"
)

// inputs holds the cell that waits for an input_reply, if any.
type inputs struct {
	mu      sync.Mutex
	peer    string // identities of the client that got the request
	request string // msg_id of the input_request
	answer  chan string
}

// errNoStdin is the error of a cell that asks for input when the front end cannot
// answer.
var errNoStdin = errors.New("kernel: input: this front end does not take input (allow_stdin is false)")

// Input asks the user of the front end that sent the cell for a line, with an
// input_request. It returns the line without the newline. It fails if the front end
// does not accept input requests, if another request is open, or when ctx ends. If the
// cell's unsent output ends with prompt, that part is not sent: the front end shows it
// with the input field.
func (o *output) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if !o.stdin {
		return "", errNoStdin
	}
	o.mu.Lock()
	if o.current == &o.stdout && bytes.HasSuffix(o.text, []byte(prompt)) {
		o.text = o.text[:len(o.text)-len(prompt)]
	}
	o.flush(false)
	o.mu.Unlock()
	k := o.k
	h := k.session.Header("input_request")
	answer, err := k.inputs.open(peerOf(o.r.Message), h.ID)
	if err != nil {
		return "", err
	}
	defer k.inputs.close()
	k.send(Stdin, o.r.Prefix, h, o.r.Header, nil, object{"prompt": prompt, "password": password})
	select {
	case line := <-answer:
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-k.cellCtx.Done():
		return "", k.cellCtx.Err()
	}
}

// answerInput hands input_reply to the cell that waits for it.
func (k *kernel) answerInput(r *request) {
	var c struct{ Value *string }
	switch {
	case r.Header.Type != "input_reply":
		k.log.Printf("stdin: unknown message type %q", r.Header.Type)
	case r.decode(&c) != nil || c.Value == nil:
		k.log.Printf("stdin: dropped an input_reply: value is missing or not a string")
	case !k.inputs.take(peerOf(r.Message), r.Parent.ID, *c.Value):
		k.log.Printf("stdin: dropped an input_reply: no input_request is open")
	}
}

func peerOf(m Message) string {
	var id []byte
	for _, p := range m.Prefix {
		id = append(append(id, byte(len(p))), p...)
	}
	return string(id)
}

func (i *inputs) open(peer, request string) (<-chan string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.answer != nil {
		return nil, errors.New("kernel: input: another input request is still open; wait for its answer")
	}
	i.peer, i.request, i.answer = peer, request, make(chan string, 1)
	return i.answer, nil
}

func (i *inputs) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = nil
}

// take passes on an answer. jupyter_client sends it without a parent header.
func (i *inputs) take(peer, parent, value string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.answer == nil || peer != i.peer || parent != "" && parent != i.request {
		return false
	}
	select {
	case i.answer <- value:
		return true
	default:
		return false
	}
}
