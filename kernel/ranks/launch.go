package ranks

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Options are the settings of [Launch].
type Options struct {
	Ranks    int       // number of ranks, at least 1
	Launcher Launcher  // program that starts them
	Program  []string  // command line of a rank, which calls Join
	Task     string    // text for rank 0, in Member.Task
	Log      io.Writer // gets what ranks and launcher write to their own stdout and stderr, and what went wrong
	// Patience is the time in which all ranks must start; 0 means a minute.
	Patience time.Duration
}

// closing is the time that ranks have to end before they are killed.
const closing = 5 * time.Second

// Launch starts the ranks and passes their messages until rank 0 ends, or ctx does. Then all of them have
// ended. The error says which rank did not start, or ended before the kernel did.
func Launch(ctx context.Context, o Options) error {
	if o.Ranks < 1 {
		return fmt.Errorf("ranks: %d ranks, want at least 1", o.Ranks)
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	program, err := programOf(o.Program[0])
	if err != nil {
		return fmt.Errorf("ranks: %w", err)
	}
	certificate, print, err := newCertificate()
	if err != nil {
		return fmt.Errorf("ranks: certificate: %w", err)
	}
	hosts, at := []string{"127.0.0.1"}, "127.0.0.1:0"
	if o.Launcher.several() {
		hosts, at = ownAddresses(), ":0"
	}
	listener, err := tls.Listen("tcp", at, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	if err != nil {
		return fmt.Errorf("ranks: %w", err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	h := &hub{
		o: o, invited: invitation{o.Ranks, withPort(hosts, port), print, rand.Text()}, program: program,
		members: make([]*member, o.Ranks), events: make(chan event, 64), tail: &tail{to: o.Log},
	}
	return h.serve(ctx, listener)
}

// hub passes messages between ranks.
type hub struct {
	o       Options
	invited invitation
	program string // fingerprint of the program
	tail    *tail
	events  chan event

	members []*member // members that have come, by rank
	ended   []*member // members in the order in which their ends arrived
}

// member is a rank with its connection.
type member struct {
	*wire
	greeting
	over bool
}

func (m *member) String() string {
	return fmt.Sprintf("rank %d (process %d on %s)", m.Rank, m.Pid, m.Host)
}

// event is a message of a rank, or the end of its connection.
type event struct {
	from *member
	message
	err error
}

func (h *hub) serve(ctx context.Context, listener net.Listener) error {
	argv := h.o.Launcher.argv(h.o.Ranks, h.o.Program)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), Variable+"="+h.invited.String())
	if lib := h.o.Launcher.Library; lib != "" && os.Getenv(VariableLibrary) == "" {
		cmd.Env = append(cmd.Env, VariableLibrary+"="+lib)
	}
	cmd.Stdout, cmd.Stderr = h.tail, h.tail
	cmd.WaitDelay = time.Second // ranks may hold its output open
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("ranks: start %s: %w", strings.Join(argv, " "), err)
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	go h.accept(listener)
	err := h.gather(ctx, exited, cmd)
	wait := closing
	if err == nil {
		err = h.pass(ctx)
	} else {
		wait = 0 // ranks that wait for others have nothing to end
	}
	h.finish(cmd, exited, wait)
	return err
}

// accept greets connections and turns what they send into events.
func (h *hub) accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			m := &member{wire: newWire(c)}
			c.SetReadDeadline(time.Now().Add(sendLimit))
			first, err := m.receive()
			if err != nil || first.Hello == nil || subtle.ConstantTimeCompare([]byte(first.Hello.Token), []byte(h.invited.token)) != 1 {
				c.Close()
				return
			}
			c.SetReadDeadline(time.Time{})
			m.greeting = *first.Hello
			m.Token = ""
			h.events <- event{from: m, message: first}
			for {
				in, err := m.receive()
				h.events <- event{m, in, err}
				if err != nil {
					return
				}
			}
		}()
	}
}

// gather waits until all ranks have come.
func (h *hub) gather(ctx context.Context, exited <-chan struct{}, cmd *exec.Cmd) error {
	late := time.NewTimer(h.o.Patience)
	defer late.Stop()
	for n := 0; n < h.o.Ranks; {
		select {
		case e := <-h.events:
			if e.err != nil {
				e.from.over = true
				return fmt.Errorf("ranks: %v ended before all ranks had started", e.from)
			}
			if e.Kind != hello {
				continue
			}
			if err := h.admit(e.from); err != nil {
				return err
			}
			n++
		case <-exited:
			return fmt.Errorf("ranks: %s ended (%v) before all %d ranks had started", strings.Join(cmd.Args, " "), cmd.ProcessState, h.o.Ranks)
		case <-late.C:
			var missing []int
			for r, m := range h.members {
				if m == nil {
					missing = append(missing, r)
				}
			}
			return fmt.Errorf("ranks: %s did not start within %v", list(missing), h.o.Patience)
		case <-ctx.Done():
			return nil
		}
	}
	var roster []greeting
	for _, m := range h.members {
		roster = append(roster, m.greeting)
	}
	h.broadcast(message{Kind: welcome, Roster: roster, Text: h.o.Task}, nil)
	return nil
}

func (h *hub) admit(m *member) error {
	switch {
	case m.Rank < 0 || m.Rank >= h.o.Ranks:
		return fmt.Errorf("ranks: the process %d on %s is rank %d, want ranks 0 to %d: %s started more than were asked for", m.Pid, m.Host, m.Rank, h.o.Ranks-1, h.o.Launcher.Name)
	case h.members[m.Rank] != nil:
		return fmt.Errorf("ranks: two processes are rank %d: %d on %s and %d on %s; the launcher %s does not number them",
			m.Rank, h.members[m.Rank].Pid, h.members[m.Rank].Host, m.Pid, m.Host, h.o.Launcher.Name)
	case m.Program != h.program:
		return fmt.Errorf("ranks: rank %d on %s runs another program (%s) than this machine (%s); install the same one on all machines", m.Rank, m.Host, m.Program, h.program)
	}
	h.members[m.Rank] = m
	return nil
}

// pass passes messages until rank 0 ends.
func (h *hub) pass(ctx context.Context) error {
	lead := h.members[0]
	stop := ctx.Done()
	for {
		select {
		case e := <-h.events:
			switch {
			case e.err != nil:
				e.from.over = true
				h.ended = append(h.ended, e.from)
				if e.from == lead {
					return h.leftEarly()
				}
				go h.mourn(e.from, lead)
			case e.Kind == end:
				return nil
			case e.from == lead:
				h.broadcast(e.message, lead)
			default:
				e.message.From = e.from.Rank
				if err := lead.send(e.message); err != nil {
					return h.leftEarly()
				}
			}
		case <-stop: // rank 0 ends its kernel and says so
			stop = nil
			if lead.send(message{Kind: end}) != nil {
				return nil
			}
		}
	}
}

// mourn tells rank 0 that a rank has ended, once its last output has arrived.
func (h *hub) mourn(m, lead *member) {
	time.Sleep(lastWords)
	lead.send(message{Kind: gone, From: m.Rank, Text: h.tail.of(m.Rank)})
}

// lastWords is the time in which the last output of a rank that has ended arrives through the launcher.
const lastWords = 200 * time.Millisecond

// leftEarly returns the error for a rank 0 that ended silently: itself, or because the launcher
// ended all ranks after another one. Ends that are close together may arrive in any order, so
// the error names all ranks that have ended, and not a cause.
func (h *hub) leftEarly() error {
	for late := time.After(lastWords); late != nil; {
		select {
		case e := <-h.events:
			if e.err != nil {
				e.from.over = true
				h.ended = append(h.ended, e.from)
			}
		case <-late:
			late = nil
		}
	}
	var names []string
	for _, m := range h.ended {
		names = append(names, m.String())
	}
	switch n := len(names); {
	case n == 0: // the end of its connection has not arrived
		names = []string{h.members[0].String()}
	case n > 4:
		names = append(names[:4], fmt.Sprintf("%d more", n-4))
	}
	return fmt.Errorf("ranks: %s ended unexpectedly", strings.Join(names, ", "))
}

// broadcast sends a message to all ranks but one.
func (h *hub) broadcast(msg message, but *member) {
	for _, m := range h.members {
		if m != nil && m != but && !m.over {
			m.send(msg) // the end of the connection is an event
		}
	}
}

// finish ends all ranks, and kills those that have not ended after a time. A launcher may outlive ranks that
// have not said goodbye to MPI, so it is ended once they have.
func (h *hub) finish(cmd *exec.Cmd, exited <-chan struct{}, wait time.Duration) {
	h.broadcast(message{Kind: end}, nil)
	late := time.After(wait)
	for waiting := true; waiting && h.left() > 0; {
		select {
		case e := <-h.events:
			e.from.over = e.from.over || e.err != nil
		case <-exited:
			return
		case <-late:
			for _, m := range h.members {
				if m != nil {
					m.Close() // a rank that loses its connection exits at once
				}
			}
			waiting = false
		}
	}
	go func() { // ranks may still write
		for range h.events {
		}
	}()
	for _, stop := range []func(*exec.Cmd){func(*exec.Cmd) {}, terminate, kill} {
		stop(cmd)
		select {
		case <-exited:
			return
		case <-time.After(lastWords):
		}
	}
	<-exited
}

// left returns the number of ranks that have not ended.
func (h *hub) left() (n int) {
	for _, m := range h.members {
		if m != nil && !m.over {
			n++
		}
	}
	return n
}

// list names ranks: "rank 1", "ranks 1, 2".
func list(ranks []int) string {
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ", "), "[]")
	if len(ranks) == 1 {
		return "rank " + s
	}
	return "ranks " + s
}

// tail passes on output and keeps the end of it.
type tail struct {
	mu   sync.Mutex
	to   io.Writer
	last []byte
}

const tailBytes, tailLines = 64 << 10, 20

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-tailBytes):]...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	if t.to != nil {
		t.to.Write(p)
	}
	return len(p), nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(strings.TrimSpace(string(t.last)), "\n")
}

// of returns the last lines of a rank, which launchers label "[1] ", "[1,1]<stderr>: " or "1: ".
func (t *tail) of(rank int) string {
	var own []string
	for _, line := range t.lines() {
		for _, label := range []string{fmt.Sprintf("[%d] ", rank), fmt.Sprintf("[1,%d]<stderr>: ", rank), fmt.Sprintf("[1,%d]<stderr>:", rank), fmt.Sprintf("%d: ", rank)} {
			if text, ok := strings.CutPrefix(line, label); ok {
				own = append(own, text)
				break
			}
		}
	}
	return strings.Join(own[max(0, len(own)-tailLines):], "\n")
}
