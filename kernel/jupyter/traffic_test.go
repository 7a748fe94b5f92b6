package jupyter_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

var mutations = flag.Int("frames", 10_000, "number of mutated messages that TestMutatedTraffic sends")

// recorded is a message of testdata/traffic.jsonl.
type recorded struct {
	Channel string   `json:"channel"`
	Frames  []string `json:"frames"` // header, parent_header, metadata, content, buffers
}

func traffic(t testing.TB) []recorded {
	t.Helper()
	b, err := os.ReadFile("testdata/traffic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || len(r.Frames) < 4 {
			t.Fatalf("traffic.jsonl: %s: %v", lines.Bytes(), err)
		}
		all = append(all, r)
	}
	return all
}

// patient is an Echo without the commands that would end or delay the test.
type patient struct{ kerneltest.Echo }

func (p *patient) Eval(ctx context.Context, c kernel.Cell, out kernel.Output) kernel.Result {
	for _, command := range []string{"exit", "abandon", "flood", "repeat"} {
		if strings.Contains(c.Code, command) {
			return kernel.Result{}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	return p.Echo.Eval(ctx, c, out)
}

// target is a kernel that receives mutated messages.
type target struct {
	t       testing.TB
	end     context.CancelFunc
	ended   chan error
	sockets map[string]zmq4.Socket
	pings   int
	starts  int
}

func (k *target) start() {
	ctx, end := context.WithCancel(context.Background())
	k.end, k.ended = end, make(chan error, 1)
	ready := make(chan jupyter.Connection, 1)
	ended := k.ended
	go func() {
		ended <- jupyter.Serve(ctx, jupyter.Config{
			Connection: jupyter.Connection{Key: key}, Log: io.Discard, Ready: func(c jupyter.Connection) { ready <- c },
		}, &patient{})
		end()
	}()
	c := <-ready
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	k.sockets = map[string]zmq4.Socket{}
	for channel, port := range map[string]int{"shell": c.ShellPort, "control": c.ControlPort, "stdin": c.StdinPort, "iopub": c.IOPubPort} {
		s := zmq4.NewDealer(ctx, quiet)
		if channel == "iopub" {
			s = zmq4.NewSub(ctx, quiet)
			s.SetOption(zmq4.OptionSubscribe, "")
		}
		if err := s.Dial(c.Endpoint(port)); err != nil {
			k.t.Fatal(err)
		}
		k.sockets[channel] = s
	}
	go func(iopub zmq4.Socket) {
		for ctx.Err() == nil {
			iopub.Recv()
		}
	}(k.sockets["iopub"])
	k.starts++
}

func (k *target) stop() {
	k.end()
	if err := <-k.ended; err != nil {
		k.t.Fatal(err)
	}
	for _, s := range k.sockets {
		s.Close()
	}
}

// send sends frames. Those of a message that ended the kernel, such as a shutdown, go
// to its successor.
func (k *target) send(channel string, frames [][]byte) {
	k.sockets[channel].SendMulti(zmq4.NewMsgFrom(frames...))
}

// check requires the kernel to answer a well-formed request on shell and control,
// unless it was told to end.
func (k *target) check() {
	k.pings++
	for _, channel := range []string{"control", "shell"} {
		id := fmt.Sprintf("ping %s %d", channel, k.pings)
		k.send(channel, message(header(id, "kernel_info_request"), "{}"))
		answered := make(chan bool, 1)
		socket := k.sockets[channel] // of this kernel, not of its successor
		go func() {
			for {
				m, err := socket.Recv()
				if err != nil {
					answered <- false
					return
				}
				if len(m.Frames) > 4 && bytes.Contains(m.Frames[len(m.Frames)-3], []byte(id)) {
					answered <- true
					return
				}
			}
		}()
		select {
		case ok := <-answered:
			if ok {
				continue
			}
			<-k.ended
		case err := <-k.ended:
			if err != nil {
				k.t.Fatal(err)
			}
		case <-time.After(time.Minute):
			k.t.Fatalf("%s: no answer to a well-formed request within a minute", channel)
		}
		k.ended <- nil
		k.stop()
		k.start()
		return
	}
}

// signed returns the parts of a message as frames.
func signed(parts [][]byte) [][]byte {
	m := hmac.New(sha256.New, []byte(key))
	for _, p := range parts[:min(4, len(parts))] {
		m.Write(p)
	}
	return append([][]byte{[]byte("<IDS|MSG>"), hex.AppendEncode(nil, m.Sum(nil))}, parts...)
}

// mutate returns a recorded message with a new id and a few faults.
func mutate(r *rand.Rand, all []recorded, n int) (channel string, frames [][]byte) {
	from := all[r.IntN(len(all))]
	channel = from.Channel
	if r.IntN(20) == 0 {
		channel = []string{"shell", "control", "stdin"}[r.IntN(3)]
	}
	var parts [][]byte
	for i, f := range from.Frames {
		if i == 0 {
			f = strings.Replace(f, `"msg_id": "`, fmt.Sprintf(`"msg_id": "%d-`, n), 1)
		}
		parts = append(parts, []byte(f))
	}
	for range r.IntN(4) {
		i := r.IntN(len(parts))
		if r.IntN(3) > 0 {
			i = min(3, len(parts)-1) // most of the handled data is content
		}
		other := all[r.IntN(len(all))].Frames
		parts[i] = mutateBytes(r, parts[i], []byte(other[min(i, len(other)-1)]))
	}
	frames = signed(parts)
	switch r.IntN(60) {
	case 0:
		frames[1] = mutateBytes(r, frames[1], nil)
	case 1:
		frames = frames[r.IntN(len(frames)):]
	case 2:
		frames = frames[:1+r.IntN(len(frames))]
	case 3:
		frames = append(frames[:1:1], frames...)
	case 4:
		frames = append([][]byte{{}, []byte("x")}, frames...)
	}
	return channel, frames
}

var words = []string{
	"null", "true", "-1", "1e999", "99999999999999999999", "[]", "{}", `""`, `"x"`, `{"a":`, "[[[[", "\x00", "\xff\xfe", `\ud800`,
	`"code"`, `"comm_id"`, `"subshell_id"`, `"msg_type"`, `"execute_request"`, `"comm_msg"`, `"restart"`, "\n",
}

func mutateBytes(r *rand.Rand, b, other []byte) []byte {
	b = bytes.Clone(b)
	at := r.IntN(len(b) + 1)
	end := at + r.IntN(min(16, len(b)-at)+1)
	switch r.IntN(7) {
	case 0:
		if at < len(b) {
			b[at] ^= 1 << r.IntN(8)
		}
		return b
	case 1:
		return append(b[:at:at], b[end:]...)
	case 2:
		return b[:at]
	case 3:
		return append(b[:at:at], append(bytes.Repeat(b[at:end], 1+r.IntN(300)), b[end:]...)...)
	case 4:
		if len(other) > 0 {
			return append(b[:at:at], other[r.IntN(len(other)):]...)
		}
	case 5: // a JSON value becomes another
		if i := bytes.IndexByte(b[at:], ':'); i >= 0 {
			if j := bytes.IndexAny(b[at+i:], ",}"); j >= 0 {
				return append(append(b[:at+i+1:at+i+1], words[r.IntN(len(words))]...), b[at+i+j:]...)
			}
		}
	}
	return append(b[:at:at], append([]byte(words[r.IntN(len(words))]), b[end:]...)...)
}

// TestMutatedTraffic sends recorded messages with random faults. The kernel must answer
// requests after each hundred messages, and its heap must not grow.
func TestMutatedTraffic(t *testing.T) {
	all := traffic(t)
	r := rand.New(rand.NewPCG(1, 2))
	k := &target{t: t}
	k.start()
	defer func() { k.stop() }()
	var first, m runtime.MemStats
	for n := 1; n <= *mutations; n++ {
		channel, frames := mutate(r, all, n)
		for bytes.Contains(bytes.Join(frames, nil), []byte("shutdown")) { // it would end the kernel early
			channel, frames = mutate(r, all, n)
		}
		k.send(channel, frames)
		if n%100 == 0 {
			k.check()
		}
		if n == *mutations/10 || n%100_000 == 0 || n == *mutations {
			runtime.GC()
			runtime.ReadMemStats(&m)
			if first.HeapAlloc == 0 {
				first = m
			}
			t.Logf("%d messages: heap %.1f MB, from the system %.1f MB, %d goroutines",
				n, float64(m.HeapAlloc)/1e6, float64(m.Sys)/1e6, runtime.NumGoroutine())
		}
	}
	if k.starts != 1 {
		t.Errorf("the kernel was started %d times, want once", k.starts)
	}
	if grown := int64(m.HeapAlloc) - int64(first.HeapAlloc); grown > 64<<20 {
		t.Errorf("the heap grew by %d MB, want at most 64", grown>>20)
	}
}

func FuzzTraffic(f *testing.F) {
	channels := []string{"shell", "control", "stdin"}
	for _, r := range traffic(f) {
		for i, c := range channels {
			if c == r.Channel {
				buffer := strings.Join(r.Frames[4:], "")
				f.Add(byte(i), []byte(r.Frames[0]), []byte(r.Frames[1]), []byte(r.Frames[2]), []byte(r.Frames[3]), []byte(buffer))
			}
		}
	}
	k := &target{t: f}
	k.start()
	f.Cleanup(func() { k.stop() })
	f.Fuzz(func(t *testing.T, channel byte, header, parent, metadata, content, buffer []byte) {
		k.t = t
		k.send(channels[int(channel)%len(channels)], signed([][]byte{header, parent, metadata, content, buffer}))
		k.check()
	})
}
