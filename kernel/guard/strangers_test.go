package guard

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

func password(frames [][]byte) bool { return string(frames[0]) == "key" }

// budgeted returns a server of a type whose peers share a budget of a megabyte, and the budget.
func budgeted(t *testing.T, typ zmq4.SocketType, c Config) (*server, *Strangers) {
	if c.Strangers == nil {
		c.Strangers = &Strangers{most: 1 << 20}
	}
	return serve(t, typ, c), c.Strangers
}

func (s *Strangers) usage() (used, debtors int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, len(s.debtors)
}

// TestStrangersShareABudget lets forty peers send most of a long message each, which none of them ends. They never have more than
// the budget, the newest stay, and others are served.
func TestStrangersShareABudget(t *testing.T) {
	s, budget := budgeted(t, zmq4.Router, Config{Proves: password, Holds: true})
	s.echo()
	own := dial(t, s).hello("DEALER", "own")
	own.says("key")
	var strangers []*peer
	for i := range 40 {
		p := dial(t, s).hello("DEALER", fmt.Sprint(i))
		p.raw(longHeader(flagMore, 60<<20), make([]byte, 200<<10))
		p.arrives(budget)
		strangers = append(strangers, p)
		if used, _ := budget.usage(); used > 1<<20 {
			t.Fatalf("%d peers have %d bytes, want at most %d", i+1, used, 1<<20)
		}
	}
	for _, p := range strangers[:30] {
		p.disconnected()
	}
	eventually(t, "the log names the reason", func() bool { return strings.Contains(s.lines(), "this was the oldest") })
	own.send("key", strings.Repeat("x", 4<<20)) // the budget is not for it
	if got := own.message(); len(got) != 2 || len(got[1]) != 4<<20 {
		t.Errorf("a proven peer: got %d frames, want its message", len(got))
	}
	late := dial(t, s).hello("DEALER", "late")
	late.send("key", strings.Repeat("x", 4<<20)) // it proves itself before the long frame
	if got := late.message(); len(got) != 2 || len(got[1]) != 4<<20 {
		t.Errorf("a peer whose message begins with a proof: got %d frames, want its message", len(got))
	}
	s.serves(t)
	for _, p := range strangers {
		p.Close()
	}
	eventually(t, "the budget is free", func() bool { used, debtors := budget.usage(); return used == 0 && debtors == 0 })
}

// arrives waits until the guard has taken part of a frame from p.
func (p *peer) arrives(s *Strangers) {
	eventually(p.t, "the bytes arrive", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.debtors, func(c *conn) bool {
			return c.net.RemoteAddr().String() == p.LocalAddr().String() && c.borrowed >= 128<<10
		})
	})
}

// TestStrangerIsLimited checks the messages of one peer without a proof.
func TestStrangerIsLimited(t *testing.T) {
	s, _ := budgeted(t, zmq4.Router, Config{Proves: password})
	s.echo()
	p := dial(t, s).hello("DEALER", "p")
	p.says(strings.Repeat("x", 900<<10))
	p.says(strings.Repeat("x", 900<<10)) // the first has been paid back
	p.send(strings.Repeat("x", 2<<20))
	p.disconnected()
	eventually(t, "the log names the limit", func() bool { return strings.Contains(s.lines(), "has not proved that it knows the key") })

	pub, budget := budgeted(t, zmq4.Pub, Config{})
	sub := dial(t, pub).hello("SUB", "")
	for i := range 3 {
		sub.send("\x01" + fmt.Sprint(i) + strings.Repeat("x", 60<<10))
	}
	eventually(t, "topics count", func() bool { used, _ := budget.usage(); return used > 170<<10 })
	sub.Close()
	eventually(t, "until the subscriber leaves", func() bool { used, _ := budget.usage(); return used == 0 })
}

// TestFullListenerMakesRoom fills sockets with peers that prove nothing. A client with the key gets in, and one that was there before stays.
func TestFullListenerMakesRoom(t *testing.T) {
	s, budget := budgeted(t, zmq4.Router, Config{Proves: password, Holds: true, MaxConns: 4})
	s.echo()
	own := dial(t, s).hello("DEALER", "own")
	own.says("key")
	var silent []*peer
	for i := range 10 {
		silent = append(silent, dial(t, s).hello("DEALER", fmt.Sprint("silent", i)))
	}
	dial(t, s).hello("DEALER", "new").says("key")
	own.says("key")
	for _, p := range silent[:8] {
		p.disconnected()
	}

	// On a socket without proofs, those make room that come from elsewhere than proven peers. Here all come from one user.
	pub, _ := budgeted(t, zmq4.Pub, Config{MaxConns: 2, Strangers: budget})
	dial(t, pub).hello("SUB", "")
	dial(t, pub).hello("SUB", "")
	refused := dial(t, pub)
	refused.raw(greeting(), readyFrame("SUB", ""))
	refused.disconnected()

	alone, _ := budgeted(t, zmq4.Pub, Config{MaxConns: 2, Strangers: &Strangers{most: 1 << 20}})
	alone.config.Strangers.join(&Listener{config: Config{Proves: password}}) // a socket where no peer has proved itself yet
	first := dial(t, alone).hello("SUB", "")
	dial(t, alone).hello("SUB", "")
	dial(t, alone).hello("SUB", "")
	first.disconnected()
}

// TestPace checks how long units are waited for.
func TestPace(t *testing.T) {
	type step struct {
		after time.Duration // since the step before
		n     int
		want  time.Duration
	}
	for _, c := range []struct {
		name  string
		pace  pace
		steps []step
	}{
		{"no limit", pace{}, []step{{0, 1 << 30, 0}, {0, 1 << 30, 0}}},
		{"a burst, then a rate", pace{burst: 4, rate: 2}, []step{{0, 3, 0}, {0, 1, 0}, {0, 1, time.Second / 2}, {0, 1, time.Second}, {time.Second, 1, time.Second / 2}}},
		{"rest", pace{burst: 4, rate: 2}, []step{{0, 4, 0}, {time.Hour, 4, 0}, {time.Second, 4, time.Second}}},
		{"the longest wait", pace{burst: 4, rate: 2}, []step{{0, 4, 0}, {0, 400, 2 * time.Second}, {0, 1, 2 * time.Second}, {time.Second, 1, 3 * time.Second / 2}}},
	} {
		now := time.Unix(1, 0)
		for i, s := range c.steps {
			now = now.Add(s.after)
			if got := c.pace.take(s.n, now); got != s.want {
				t.Errorf("%s, step %d: got %v, want %v", c.name, i, got, s.want)
			}
		}
	}
}

// TestStrangersComeAgain lets forty peers without the key connect, send most of a long message, and come again when they are disconnected, while
// another works. What is read from them and the number of their handshakes stay below the rates.
func TestStrangersComeAgain(t *testing.T) {
	const most, burst = 1 << 20, 50
	budget := &Strangers{most: most, bytes: pace{burst: most, rate: most}, handshakes: pace{burst: burst, rate: burst}}
	s, _ := budgeted(t, zmq4.Router, Config{Proves: password, Holds: true, Strangers: budget})
	s.echo()
	own := dial(t, s).hello("DEALER", "own")
	own.says("key")
	began := time.Now()
	var over atomic.Bool
	var attack sync.WaitGroup
	for i := range 40 {
		attack.Go(func() {
			for !over.Load() {
				nc, err := net.Dial(s.Addr().Network(), s.Addr().String())
				if err != nil {
					return
				}
				nc.SetDeadline(time.Now().Add(time.Second))
				nc.Write(slices.Concat(greeting(), readyFrame("DEALER", fmt.Sprint(i)), longHeader(flagMore, 60<<20)))
				for part := make([]byte, 64<<10); err == nil && !over.Load(); {
					_, err = nc.Write(part)
				}
				nc.Close()
			}
		})
	}
	taken := func() (bytes, handshakes int64) {
		budget.mu.Lock()
		defer budget.mu.Unlock()
		return budget.taken, budget.greeted
	}
	eventually(t, "the budget is used up, and peers come again", func() bool {
		own.says("key")
		bytes, handshakes := taken()
		return bytes > most/2 && handshakes > 3*burst
	})
	bytes, handshakes := taken()
	seconds := time.Since(began).Seconds()
	if limit := int64(most * (1 + seconds)); bytes > limit {
		t.Errorf("%d bytes were taken in %.1f s, want at most %d", bytes, seconds, limit)
	}
	if limit := int64(burst*(1+seconds)) + 40; handshakes > limit {
		t.Errorf("%d handshakes began in %.1f s, want at most %d", handshakes, seconds, limit)
	}
	over.Store(true)
	s.serves(t)
	attack.Wait()
}

// TestLocalUsers looks for the user of a connection of this test, on IPv4 and IPv6.
func TestLocalUsers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got := localUsers()[endpoints{c.LocalAddr().String(), c.RemoteAddr().String()}]; got != os.Getuid()+1 {
			t.Errorf("%s: got user %d, want %d", address, got-1, os.Getuid())
		}
	}
}
