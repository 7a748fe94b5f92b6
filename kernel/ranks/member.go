package ranks

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"halfnote/display"
	"halfnote/kernel"
)

// Member is this process as a rank.
type Member struct {
	Rank, Size int
	// Local is the number of ranks on this machine.
	Local int
	// Task is the text that the launcher has for rank 0.
	Task string
	// Recover, if set, is called on all ranks before the cell that follows one that failed or was interrupted, in
	// which some ranks may have left a collective that others have not.
	Recover func() error
	roster  []greeting
	*wire
}

// Invited reports whether this process was started as a rank.
func Invited() bool { return os.Getenv(Variable) != "" }

// Join connects this process to its launcher and waits until all ranks have started. It removes the
// invitation from the environment, so that processes that a cell starts are not taken for ranks.
func Join() (*Member, error) {
	v, err := parseInvitation(os.Getenv(Variable))
	if err != nil {
		return nil, err
	}
	os.Unsetenv(Variable)
	rank, err := ownRank()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("ranks: %w", err)
	}
	program, err := programOf(self)
	if err != nil {
		return nil, fmt.Errorf("ranks: %w", err)
	}
	host, _ := os.Hostname()
	c, err := dial(v)
	if err != nil {
		return nil, fmt.Errorf("ranks: rank %d on %s cannot reach the launcher: %w", rank, host, err)
	}
	m := &Member{Rank: rank, Size: v.ranks, wire: newWire(c)}
	if err := m.send(message{Kind: hello, Hello: &greeting{Rank: rank, Token: v.token, Host: host, Pid: os.Getpid(), Program: program}}); err != nil {
		return nil, err
	}
	first, err := m.receive()
	if err != nil || first.Kind != welcome {
		return nil, fmt.Errorf("ranks: rank %d: the launcher has ended", rank)
	}
	m.roster, m.Task = first.Roster, first.Text
	for _, r := range m.roster {
		if r.Host == host {
			m.Local++
		}
	}
	return m, nil
}

// dial connects to the first address of the launcher that answers.
func dial(v invitation) (*tls.Conn, error) {
	var failed []error
	for address := range strings.SplitSeq(v.addresses, ",") {
		c, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, trusting(v.fingerprint))
		if err == nil {
			return c, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// Work runs the cells that rank 0 hands out, until the kernel ends or ctx does. A cell may still run when
// it returns: the process should then exit.
func (m *Member) Work(ctx context.Context, eval kernel.Evaluator) error {
	if u, ok := eval.(kernel.RankUser); ok {
		u.UseRanks(quiet{})
	}
	defer context.AfterFunc(ctx, func() { m.Close() })()
	stop := func() {}
	before := make(chan struct{}) // closed when the cell before has ended
	close(before)
	for {
		msg, err := m.receive()
		if err != nil || msg.Kind == end {
			stop()
			return nil
		}
		switch msg.Kind {
		case run:
			var cell context.Context
			cell, stop = context.WithCancel(ctx)
			previous, now := before, make(chan struct{})
			before = now
			go func() {
				defer close(now)
				<-previous
				m.eval(cell, eval, msg)
			}()
		case interrupt:
			stop()
		}
	}
}

// eval runs a cell and sends its result.
func (m *Member) eval(ctx context.Context, eval kernel.Evaluator, msg message) {
	r := kernel.Result{}
	defer func() {
		if p := recover(); p != nil {
			text := fmt.Sprintf("InternalError: %v", p)
			r = kernel.Result{Err: &kernel.Error{Name: "InternalError", Value: fmt.Sprint(p), Traceback: append([]string{text}, strings.Split(string(debug.Stack()), "\n")...)}}
		}
		r.Payload = nil // pages and the next cell's text are those of rank 0
		if r.Value != nil {
			b := portable(*r.Value)
			r.Value = &b
		}
		m.send(message{Kind: done, Sequence: msg.Sequence, Result: &r})
	}()
	if err := m.recovered(msg.Recover); err != nil {
		r = kernel.Result{Err: err}
		return
	}
	r = eval.Eval(ctx, *msg.Cell, sender{m, msg.Sequence})
}

// recovered calls Recover if that is due.
func (m *Member) recovered(due bool) *kernel.Error {
	if !due || m.Recover == nil {
		return nil
	}
	err := m.Recover()
	if err == nil {
		return nil
	}
	return &kernel.Error{Name: "RankLost", Value: err.Error() + "; restart the kernel", Traceback: []string{"RankLost: " + err.Error(), "Restart the kernel."}}
}

// sender is the Output of a cell on a rank other than 0.
type sender struct {
	m        *Member
	sequence int
}

func (s sender) send(kind string, o kernel.KeptOutput) {
	s.m.send(message{Kind: kind, Sequence: s.sequence, Output: &o}) // without the launcher, the process ends
}

func (s sender) Stdout() io.Writer { return sentStream{s, "stdout"} }
func (s sender) Stderr() io.Writer { return sentStream{s, "stderr"} }

func (s sender) Display(b display.Bundle) { s.send(output, kernel.KeptOutput{Bundle: portable(b)}) }
func (s sender) Update(b display.Bundle)  { s.send(update, kernel.KeptOutput{Bundle: portable(b)}) }

func (s sender) Clear(wait bool) {
	kind := clearNow
	if wait {
		kind = clearNext
	}
	s.send(kind, kernel.KeptOutput{})
}

type sentStream struct {
	sender
	name string
}

func (s sentStream) Write(p []byte) (int, error) {
	s.send(output, kernel.KeptOutput{Stream: s.name, Text: string(p)})
	return len(p), nil
}

// portable returns the bundle with the values that JSON can hold.
func portable(b display.Bundle) display.Bundle {
	list := func(m map[string]any) map[string]any {
		out := map[string]any{}
		for name, v := range m {
			if raw, ok := v.([]byte); ok && strings.HasPrefix(name, "text/") {
				v = string(raw)
			}
			if _, err := json.Marshal(v); err == nil {
				out[name] = v
			}
		}
		return out
	}
	return display.Bundle{Data: list(b.Data), Metadata: list(b.Metadata), ID: b.ID}
}

// quiet is what ranks other than 0 see of the others: nothing, because rank 0 shows it.
type quiet struct{}

func (quiet) List() []kernel.RankState                 { return nil }
func (quiet) Outputs(int) ([]kernel.KeptOutput, error) { return nil, nil }
