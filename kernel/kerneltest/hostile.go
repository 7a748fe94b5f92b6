package kerneltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
)

// Cells are the cells that [Hostile] needs, in the kernel's language.
type Cells struct {
	Hello string // prints "hello, world"
	Big   string // prints 20 million bytes
}

// maxHostile is the limit on the kernel's memory after all attacks: far less than any
// of them announces.
const maxHostile = 1 << 30

// Hostile attacks one kernel with malformed messages, broken ZMTP, and silent or stuck
// peers. After each attack the kernel must answer both the existing client and a new
// one, and run a cell. If the options ask for an encrypted connection, peers that send
// well-formed ZMTP do so inside the encryption, and there are further attacks on it.
func Hostile(t *testing.T, start func(client.Options) (*client.Kernel, error), o client.Options, cells Cells) {
	h := &hostile{cells: cells}
	attacks := attacks
	if o.TransportEncryption == "required" {
		attacks = slices.Concat(attacks, onEncryption)
	}
	defer func() {
		if h.kernel != nil {
			h.kernel.Close()
		}
	}()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			h.t = t
			if h.kernel == nil {
				k, err := start(o)
				if err != nil {
					t.Fatal(err)
				}
				h.kernel = k
			}
			err := a.attack(h)
			if err == nil {
				err = h.serves()
			}
			for _, p := range h.held {
				p.Close()
			}
			h.held = nil
			if err != nil {
				t.Error(err)
				h.kernel.Close()
				h.kernel = nil
			}
		})
	}
	if h.kernel != nil {
		h.memory(t, len(attacks))
	}
}

type hostile struct {
	t      *testing.T
	kernel *client.Kernel
	cells  Cells
	held   []*peer // connections to keep open until the kernel has been checked
}

// serves checks that the kernel still works.
func (h *hostile) serves() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := h.kernel.Request(ctx, "shell", "kernel_info_request", struct{}{}); err != nil {
		return fmt.Errorf("the existing client: %w", err)
	}
	for channel, port := range map[string]int{"shell": h.kernel.Connection().ShellPort, "control": h.kernel.Connection().ControlPort} {
		if err := h.dial(port, dealer+h.request("kernel_info_request", "{}")).awaits("kernel_info_reply", limit); err != nil {
			return fmt.Errorf("a new client on %s: %w", channel, err)
		}
	}
	if printed, err := h.run(h.cells.Hello); err != nil || printed != len("hello, world\n") {
		return fmt.Errorf("a cell printed %d bytes, want %d: %w", printed, len("hello, world\n"), err)
	}
	return nil
}

// run runs a cell and returns the number of bytes it printed.
func (h *hostile) run(code string) (printed int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	reply, err := h.kernel.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" && m.Decode(&c) == nil {
			printed += len(c.Text)
		}
	})
	if err == nil && reply.Status != "ok" {
		err = fmt.Errorf("the cell's status is %s: %s: %s", reply.Status, reply.ErrorName, reply.ErrorValue)
	}
	return printed, err
}

func (h *hostile) memory(t *testing.T, attacks int) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m, err := h.kernel.Request(ctx, "control", "usage_request", struct{}{})
	var c struct {
		Memory int64 `json:"kernel_memory"`
	}
	if err := errors.Join(err, json.Unmarshal(m.Content, &c)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d attacks, %d MB afterwards", attacks, c.Memory>>20)
	if c.Memory > maxHostile {
		t.Errorf("the kernel uses %d bytes of memory after all attacks, want at most %d", c.Memory, maxHostile)
	}
}

type attack struct {
	name   string
	attack func(h *hostile) error
}

// onShell sends messages on shell from a client that has completed the handshake.
func onShell(name string, data func(h *hostile) string) attack {
	return attack{name, func(h *hostile) error {
		h.dial(h.kernel.Connection().ShellPort, dealer+data(h))
		return nil
	}}
}

func request(name, msgType, content string) attack {
	return onShell(name, func(h *hostile) string { return h.request(msgType, content) })
}

func header(name, text string) attack {
	return onShell(name, func(h *hostile) string { return h.message(text, "{}", "{}") })
}

// wire sends bytes to the port.
func wire(name, data string, port func(jupyter.Connection) int) attack {
	return attack{name, func(h *hostile) error {
		h.dial(port(h.kernel.Connection()), data)
		return nil
	}}
}

func shellPort(c jupyter.Connection) int { return c.ShellPort }
func iopubPort(c jupyter.Connection) int { return c.IOPubPort }

var deep = strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)

var attacks = []attack{
	// Messages of a peer that speaks valid ZMTP.
	onShell("one garbage frame", func(*hostile) string { return multipart("garbage") }),
	onShell("six frames without the delimiter", func(*hostile) string { return strings.Repeat(zmtp(flagMore, "x"), 5) + zmtp(0, "x") }),
	onShell("one empty frame", func(*hostile) string { return multipart("") }),
	onShell("delimiter and nothing after it", func(*hostile) string { return multipart("<IDS|MSG>") }),
	onShell("wrong signature", func(*hostile) string {
		return multipart("<IDS|MSG>", strings.Repeat("0", 64), "{}", "{}", "{}", "{}")
	}),
	onShell("no signature", func(*hostile) string { return multipart("<IDS|MSG>", "", "{}", "{}", "{}", "{}") }),
	header("header is not JSON", "notjson"),
	header("header is a list", "[]"),
	header("header without msg_type", `{"msg_id":"1"}`),
	header("header with numbers where strings belong", `{"msg_id":1,"msg_type":2,"session":3}`),
	header("header of a megabyte", `{"msg_id":"`+strings.Repeat("x", 1<<20)+`","msg_type":"kernel_info_request"}`),
	header("header of 100,000 nested lists", `{"msg_id":"1","msg_type":"kernel_info_request","x":`+deep+`}`),
	header("subshell that does not exist", `{"msg_id":"1","msg_type":"execute_request","subshell_id":"missing"}`),
	request("100,000 nested lists", "execute_request", `{"code":`+deep+`}`),
	request("text that is not UTF-8", "execute_request", "{\"code\":\"\xff\xfe\"}"),
	request("execute_request without content", "execute_request", "{}"),
	request("execute_request whose content is a list", "execute_request", "[1,2]"),
	request("complete_request far outside the code", "complete_request", `{"code":"a","cursor_pos":1000000000}`),
	request("inspect_request before the code", "inspect_request", `{"code":"a","cursor_pos":-5,"detail_level":0}`),
	request("comm_msg to a comm that is not open", "comm_msg", `{"comm_id":"missing","data":{}}`),
	request("comm_open with wrong types", "comm_open", `{"comm_id":7,"target_name":[],"data":"x"}`),
	request("unknown message type", "frobnicate_request", `{"a":1}`),
	onShell("metadata that is not JSON", func(h *hostile) string {
		return h.message(`{"msg_id":"1","msg_type":"comm_msg"}`, "\x00{", `{"comm_id":"missing"}`)
	}),
	onShell("one message sent twice", func(h *hostile) string { return strings.Repeat(h.request("kernel_info_request", "{}"), 2) }),
	onShell("1000 buffers", func(h *hostile) string {
		return h.request("comm_msg", `{"comm_id":"missing","data":{}}`, strings.Split(strings.Repeat("x", 1000), "")...)
	}),
	onShell("a message of 65 MB", func(h *hostile) string {
		return h.request("execute_request", `{"code":"`+strings.Repeat("x", 65<<20)+`"}`)
	}),
	{"an unsolicited input_reply", func(h *hostile) error {
		h.dial(h.kernel.Connection().StdinPort, dealer+h.request("input_reply", `{"value":"x"}`))
		return nil
	}},
	{"shell message on control", func(h *hostile) error {
		h.dial(h.kernel.Connection().ControlPort, dealer+h.request("comm_info_request", "{}")+h.request("execute_request", `{"code":""}`))
		return nil
	}},
	{"subshells without end", func(h *hostile) error {
		p := h.dial(h.kernel.Connection().ControlPort, dealer)
		for range 1000 {
			p.raw(h.request("create_subshell_request", "{}"))
		}
		return p.awaits("the limit is", limit)
	}},

	// Peers that violate ZMTP, or stop in the middle of it.
	wire("an HTTP request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"+strings.Repeat("a", 64), shellPort),
	wire("4 KB of noise", noise(4096), shellPort),
	wire("a greeting of one byte, held open", "\xff", shellPort),
	wire("silence after the greeting", greeting, shellPort),
	wire("noise after the greeting", greeting+noise(255), shellPort),
	wire("mechanism CURVE", strings.Replace(greeting, "NULL\x00", "CURVE", 1), shellPort),
	wire("ZMTP 2", greeting[:10]+"\x01\x05\x00\x00", shellPort),
	wire("socket type PUB on shell", greeting+ready("PUB", ""), shellPort),
	wire("socket type that does not exist", greeting+ready("FOO", ""), shellPort),
	wire("READY without a socket type", greeting+zmtp(flagCommand, "\x05READY"), shellPort),
	wire("READY cut short", greeting+zmtp(flagCommand, "\x05READY\x05Socke"), shellPort),
	wire("READY with a value of 4 GB", greeting+zmtp(flagCommand, "\x05READY\x0bSocket-Type\xff\xff\xff\xff"), shellPort),
	wire("frame of 2^62 bytes in the handshake", greeting+longHeader(flagCommand, 1<<62), shellPort),
	wire("frame of 2^62 bytes", dealer+longHeader(0, 1<<62)+"x", shellPort),
	wire("frame of 2^63 bytes", dealer+longHeader(0, 1<<63)+"x", shellPort),
	wire("frame of 40 GB", dealer+longHeader(0, 40<<30)+"x", shellPort),
	wire("frame that never ends", dealer+"\x00\x50abc", shellPort),
	wire("command without a name", dealer+zmtp(flagCommand, ""), shellPort),
	wire("10,000 parts and no last one", dealer+strings.Repeat("\x01\x00", 10_000), shellPort),
	wire("frame of 2^62 bytes on iopub", sub+longHeader(0, 1<<62)+"x", iopubPort),
	wire("50 strange messages on iopub", sub+strings.Repeat(zmtp(0, "hello"), 50), iopubPort),
	wire("subscriptions without end", sub+strings.Repeat(zmtp(0, "\x01"+strings.Repeat("topic", 50)), 10_000), iopubPort),

	// Peers that are silent, numerous or stuck.
	{"60 silent connections on each port, held open", func(h *hostile) error {
		c := h.kernel.Connection()
		for _, port := range []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HeartbeatPort} {
			for range 60 {
				h.dial(port, "")
			}
		}
		return nil
	}},
	{"1000 connections that close at once", func(h *hostile) error {
		for range 1000 {
			h.dial(h.kernel.Connection().ShellPort, dealer).Close()
		}
		return nil
	}},
	{"PING is answered", func(h *hostile) error {
		p := h.dial(h.kernel.Connection().ShellPort, dealer+zmtp(flagCommand, "\x04PING\x00\x0actxt"))
		return p.awaits(zmtp(flagCommand, "\x04PONGctxt"), limit)
	}},
	{"two clients with one identity", func(h *hostile) error {
		twin := greeting + ready("DEALER", "twin")
		port := h.kernel.Connection().ShellPort
		first := h.dial(port, twin)
		if err := first.awaits("READY", limit); err != nil {
			return err
		}
		second := h.dial(port, twin)
		first.raw(h.request("kernel_info_request", "{}"))
		err := first.awaits("kernel_info_reply", 2*time.Second)
		if err == nil && second.awaits("kernel_info_reply", 300*time.Millisecond) == nil {
			return errors.New("both clients got the reply, want one")
		}
		return nil // either the older client keeps the identity or the newer takes it over
	}},
	{"a subscriber that never reads, and 20 MB of output", func(h *hostile) error {
		h.dial(h.kernel.Connection().IOPubPort, sub+zmtp(0, "\x01"))
		printed, err := h.run(h.cells.Big)
		if err == nil && printed != 20_000_000 {
			err = fmt.Errorf("%d bytes arrived, want 20,000,000", printed)
		}
		return err
	}},
	{"a client that sends 5000 requests and never reads", func(h *hostile) error {
		p := h.dial(h.kernel.Connection().ShellPort, dealer)
		var all strings.Builder
		for range 5000 {
			all.WriteString(h.request("kernel_info_request", "{}"))
		}
		p.raw(all.String())
		return nil
	}},
}

func noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7919 >> 3)
	}
	return string(b)
}
