//go:build unix

package jupyter

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// deaths are ways in which a kernel ends, and what the next one says about it.
var deaths = []struct {
	name string
	die  func(l *postMortem)
	want string // "" for nothing
}{
	{"in order", func(l *postMortem) { l.Stops() }, ""},
	{"killed", func(*postMortem) { p, _ := os.FindProcess(os.Getpid()); p.Kill(); select {} }, "ended suddenly while In[3] ran"},
	{"killed between cells", func(l *postMortem) { l.Ends(); p, _ := os.FindProcess(os.Getpid()); p.Kill(); select {} }, "ended suddenly while no cell ran"},
	{"exit", func(*postMortem) { os.Exit(1) }, "ended suddenly while In[3] ran"},
	{"panic", func(*postMortem) { panic("in a goroutine") }, "while In[3] ran: panic: in a goroutine"},
	{"panic with lines", func(*postMortem) { panic(errors.New("one\ntwo")) }, "while In[3] ran: panic: one"},
	{"fatal error", func(*postMortem) { new(sync.Mutex).Unlock() }, "while In[3] ran: fatal error: unlock of an unlocked mutex"},
	{"fatal error of a RWMutex", func(*postMortem) { new(sync.RWMutex).Unlock() }, "while In[3] ran: fatal error: unlock of an unlocked RWMutex"},
	{"nil pointer", func(*postMortem) { var p *int; *p = 1 }, "while In[3] ran: panic: runtime error: invalid memory address"},
	{"signal", func(*postMortem) { p, _ := os.FindProcess(os.Getpid()); p.Signal(syscall.SIGQUIT); select {} }, "while In[3] ran: SIGQUIT"},
	{"stack overflow", func(*postMortem) { debug.SetMaxStack(1 << 20); overflow(math.MaxInt) }, "while In[3] ran: fatal error: stack overflow"},
}

var calls int

// overflow calls itself n times.
func overflow(n int) int {
	if calls++; n == 0 {
		return 0
	}
	return overflow(n-1) + calls
}

// TestPostMortem ends processes in several ways, and checks what the next kernel with the same key, or of the same notebook,
// says about each, and that the one after it says nothing.
func TestPostMortem(t *testing.T) {
	for i, d := range deaths {
		for _, by := range []struct{ key, notebook string }{{"key", "other.ipynb"}, {"another", "a.ipynb"}, {"another", "other.ipynb"}} {
			history := filepath.Join(t.TempDir(), "history.sqlite")
			cmd := exec.Command(os.Args[0], "-test.run=^TestPostMortemChild$")
			cmd.Env = append(os.Environ(), "HALFNOTE_DEATH="+deaths[i].name, "HALFNOTE_HISTORY="+history)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (d.want == "") {
				t.Fatalf("%s: the child ended with %v: %.500s", d.name, err, out)
			}
			want := d.want
			if by.key != "key" && by.notebook != "a.ipynb" {
				want = "" // another kernel
			}
			for next := range 2 {
				var l postMortem
				if err := l.listen(history, by.key, by.notebook, ""); err != nil {
					t.Fatal(err)
				}
				silent := l.Begins(1, true)
				got := l.Begins(2, false)
				if silent != "" || !strings.Contains(got, want) || want == "" && got != "" {
					t.Errorf("%s, kernel %d after it, %v: got %q and %q, want %q", d.name, next+1, by, silent, got, want)
				}
				if again := l.Begins(3, false); again != "" {
					t.Errorf("%s: the second cell says %q", d.name, again)
				}
				l.Stops()
				want = ""
			}
		}
	}
}

// TestPostMortemChild is the process that TestPostMortem ends.
func TestPostMortemChild(t *testing.T) {
	for _, d := range deaths {
		if d.name == os.Getenv("HALFNOTE_DEATH") {
			var l postMortem
			if err := l.listen(os.Getenv("HALFNOTE_HISTORY"), "key", "a.ipynb", ""); err != nil {
				t.Fatal(err)
			}
			l.Begins(3, false)
			d.die(&l)
			return
		}
	}
	t.Skip("runs only as a child process of TestPostMortem")
}

// TestPostMortemStatus checks what a kernel says about one whose exit status is known.
func TestPostMortemStatus(t *testing.T) {
	for _, c := range []struct{ status, key, want string }{
		{"-9", "key", "ended suddenly while In[3] ran, which began at "},
		{"-9", "key", ": signal 9 (killed) ended its process."},
		{"3", "key", ": its process exited with status 3."},
		{"", "key", ", as by kill -9."},
		{"none", "key", ", as by kill -9."},
		{"-9", "another", ", as by kill -9."}, // of the same notebook, but not the kernel that this one replaces
	} {
		history := filepath.Join(t.TempDir(), "history.sqlite")
		cmd := exec.Command(os.Args[0], "-test.run=^TestPostMortemChild$")
		cmd.Env = append(os.Environ(), "HALFNOTE_DEATH=killed", "HALFNOTE_HISTORY="+history)
		if err := cmd.Run(); err == nil {
			t.Fatal("the child was not killed")
		}
		var l postMortem
		if err := l.listen(history, c.key, "a.ipynb", c.status); err != nil {
			t.Fatal(err)
		}
		if got := l.Begins(1, false); !strings.Contains(got, c.want) {
			t.Errorf("status %q: got %q, want a text that contains %q", c.status, got, c.want)
		}
		l.Stops()
	}
}
