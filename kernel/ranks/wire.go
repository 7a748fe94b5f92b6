package ranks

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"halfnote/kernel"
)

// Kinds of messages.
const (
	hello     = "hello"     // rank to launcher: Hello
	welcome   = "welcome"   // launcher to ranks, when all have come: Roster
	run       = "run"       // rank 0 to the others: Cell
	interrupt = "interrupt" // rank 0 to the others
	output    = "output"    // rank to rank 0: Output, of the cell Sequence
	update    = "update"    // the same, in place of an earlier output with the same ID
	clearNow  = "clear"     // rank to rank 0: the outputs of the cell Sequence are removed
	clearNext = "clearNext" // the same, when the next output arrives
	done      = "done"      // rank to rank 0: Result, of the cell Sequence
	gone      = "gone"      // launcher to rank 0: From has ended, with the Text of its last output
	end       = "end"       // rank 0 to launcher, and launcher to ranks: the kernel ends
)

// message is a message between the launcher and a rank.
type message struct {
	Kind     string
	From     int                `json:",omitempty"` // rank that sent it; set by the launcher
	Sequence int                `json:",omitempty"` // number of the cell
	Hello    *greeting          `json:",omitempty"`
	Roster   []greeting         `json:",omitempty"`
	Cell     *kernel.Cell       `json:",omitempty"`
	Recover  bool               `json:",omitempty"` // the cell before failed on some ranks
	Output   *kernel.KeptOutput `json:",omitempty"`
	Result   *kernel.Result     `json:",omitempty"`
	Text     string             `json:",omitempty"`
}

// greeting is how a rank introduces itself.
type greeting struct {
	Rank    int
	Token   string `json:",omitempty"`
	Host    string
	Pid     int
	Program string // fingerprint of the program
}

// wire is a connection that carries messages. Send may be called from any goroutine.
type wire struct {
	net.Conn
	in *json.Decoder

	mu  sync.Mutex
	out *json.Encoder
}

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c, in: json.NewDecoder(c), out: json.NewEncoder(c)}
	w.out.SetEscapeHTML(false)
	return w
}

// sendLimit bounds the time that a peer may take to read a message.
const sendLimit = 30 * time.Second

func (w *wire) send(m message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.SetWriteDeadline(time.Now().Add(sendLimit))
	if err := w.out.Encode(m); err != nil {
		return fmt.Errorf("ranks: send %s: %w", m.Kind, err)
	}
	return nil
}

func (w *wire) receive() (m message, err error) {
	err = w.in.Decode(&m)
	return m, err
}
