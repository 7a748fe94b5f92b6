package display

import (
	"bytes"
	"container/list"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a Sink that logs calls.
type recorder struct {
	mu  sync.Mutex
	log []string
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *recorder) Display(b Bundle) { r.add("display %v", b) }
func (r *recorder) Update(b Bundle)  { r.add("update %v", b) }
func (r *recorder) Clear(wait bool)  { r.add("clear %v", wait) }

func TestScreen(t *testing.T) {
	var a, b recorder
	now := &a
	s := NewScreen(func() Sink { return now })
	s.Show(1, "x")
	h := s.Live("old")
	now = &b
	h.Update("new") // stays with the cell that showed it
	s.Clear(true)
	s.Show()
	if got, want := strings.Join(a.log, "; "), "display 1; display x; display old; update new"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := strings.Join(b.log, "; "), "clear true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if x, y := s.Live(1), s.Live(1); x.id == y.id || x.id == "" {
		t.Errorf("got IDs %q and %q, want two different ones", x.id, y.id)
	}
}

// TestSymbols checks that Symbols is complete: a missing function would print to the kernel's own
// standard output.
func TestSymbols(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "standard" {
					want = append(want, fn.Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(want)
	symbols := NewScreen(nil).Symbols()
	if got := slices.Sorted(maps.Keys(symbols)); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	functions := map[string]any{"Clear": Clear, "Live": Live, "NewProgress": NewProgress, "Show": Show, "Track": Track}
	for name, f := range symbols {
		if got, want := reflect.TypeOf(f), reflect.TypeOf(functions[name]); got != want {
			t.Errorf("%s: got a method of type %v, want %v, the type of the function", name, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(s *Screen)
		want []string
	}{
		{"fast", func(s *Screen) {
			p := s.NewProgress(1000, "fast")
			for range 1000 {
				p.Add(1)
			}
			p.Add(1)
			p.Finish()
		}, []string{
			"display fast [····················] 0/1000",
			"update fast [████████████████████] 1000/1000",
		}},
		{"a second", func(s *Screen) {
			p := s.NewProgress(100, "")
			for range 100 {
				time.Sleep(12 * time.Millisecond)
				p.Add(1)
			}
		}, []string{
			"display [····················] 0/100",
			"update [████················] 20/100, 80/s, 1 s left",
			"update [████████············] 41/100, 82/s, 1 s left",
			"update [████████████········] 62/100, 82.7/s, 1 s left",
			"update [████████████████····] 83/100, 83/s, 1 s left",
			"update [████████████████████] 100/100 in 1.2 s, 83.3/s",
		}},
		{"stops without Finish", func(s *Screen) {
			p := s.NewProgress(4, "x")
			p.Set(1)
			p.Set(2)
			time.Sleep(time.Second)
		}, []string{
			"display x [····················] 0/4",
			"update x [██████████··········] 2/4, 8/s, 1 s left",
		}},
		{"no total", func(s *Screen) {
			p := s.NewProgress(0, "steps")
			p.Set(7)
			p.Finish()
			p.Set(8)
		}, []string{"display steps 0", "update steps 7"}},
		{"hours", func(s *Screen) {
			p := s.NewProgress(3000, "epochs")
			time.Sleep(4 * time.Second)
			p.Add(1)
			time.Sleep(time.Second)
			p.Add(1999)
		}, []string{
			"display epochs [····················] 0/3000",
			"update epochs [····················] 1/3000, 4 s each, 3:19:56 left",
			"update epochs [█████████████·······] 2000/3000, 400/s, 3 s left",
		}},
		{"loop", func(s *Screen) {
			for i := range s.Track(3, "loop") {
				if i == 2 {
					s.Show("last")
				}
				time.Sleep(time.Second)
			}
		}, []string{
			"display loop [····················] 0/3",
			"update loop [██████··············] 1/3, 1/s, 2 s left",
			"update loop [█████████████·······] 2/3, 1/s, 1 s left",
			"display last",
			"update loop [████████████████████] 3/3 in 3 s, 1/s",
		}},
		{"loop over a slice that breaks", func(s *Screen) {
			for i := range s.Track([]string{"a", "b", "c"}, "") {
				if i == 1 {
					break
				}
			}
		}, []string{
			"display [····················] 0/3",
			"update [██████··············] 1/3, stopped",
		}},
		{"loop that panics", func(s *Screen) {
			defer func() { s.Show(recover()) }()
			for range s.Track(uint8(5), "steps") {
				time.Sleep(2 * time.Second)
				panic("no")
			}
		}, []string{
			"display steps [····················] 0/5",
			"update steps [····················] 0/5, stopped after 2 s",
			"display no",
		}},
		{"loop that returns", func(s *Screen) {
			func() int {
				for i := range s.Track(map[string]int{"a": 1}, "steps") {
					return i
				}
				return -1
			}()
		}, []string{
			"display steps [····················] 0/1",
			"update steps [····················] 0/1, stopped",
		}},
		{"nested loops", func(s *Screen) {
			for i := range s.Track(2, "epochs") {
				for range s.Track(2, "steps") {
					time.Sleep(300 * time.Millisecond)
				}
				s.Show(i)
				for range s.Track(1, "validation") {
				}
			}
			for range s.Track(1, "steps") {
			}
		}, []string{
			"display epochs [····················] 0/2",
			"display steps [····················] 0/2",
			"update steps [██████████··········] 1/2, 3.33/s, 1 s left",
			"update steps [████████████████████] 2/2 in 600 ms, 3.33/s",
			"display 0",
			"display validation [····················] 0/1",
			"update validation [████████████████████] 1/1",
			"update epochs [██████████··········] 1/2, 1.67/s, 1 s left",
			"update steps [····················] 0/2",
			"update steps [██████████··········] 1/2, 3.33/s, 1 s left",
			"update steps [████████████████████] 2/2 in 600 ms, 3.33/s",
			"display 1",
			"update validation [····················] 0/1",
			"update validation [████████████████████] 1/1",
			"update epochs [████████████████████] 2/2 in 1.2 s, 1.67/s",
			"display steps [····················] 0/1",
			"update steps [████████████████████] 1/1",
		}},
		{"cell that ends without Finish", func(s *Screen) {
			p := s.NewProgress(4, "x")
			q := s.NewProgress(4, "y")
			time.Sleep(2 * time.Second)
			q.Add(1)
			s.Settle()
			time.Sleep(2 * time.Second)
			p.Add(1) // a goroutine of the cell
		}, []string{
			"display x [····················] 0/4",
			"display y [····················] 0/4",
			"update y [█████···············] 1/4, 2 s each, 6 s left",
			"update x [····················] 0/4, stopped after 2 s",
			"update y [█████···············] 1/4, stopped after 2 s, 2 s each",
			"update x [█████···············] 1/4, 4 s each, 12 s left",
		}},
		{"loop of a value with a length", func(s *Screen) {
			for range s.Track(list.New(), "nothing") {
				t.Error("want no step")
			}
		}, nil},
		{"not a loop", func(s *Screen) {
			defer func() { s.Show(recover()) }()
			s.Track(2.5, "steps")
		}, []string{
			"display display: Track: a float64 has no length; want a number of steps, a slice or a value with Len() int",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorder
				tt.run(NewScreen(func() Sink { return &r }))
				time.Sleep(time.Second)
				synctest.Wait()
				if !slices.Equal(r.log, tt.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(r.log, "\n"), strings.Join(tt.want, "\n"))
				}
			})
		})
	}
}

// framedText is a value with frames.
type framedText string

func (f framedText) Frame() Bundle  { return Text("frame " + string(f)) }
func (f framedText) String() string { return "all of " + string(f) }

func TestLive(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(s *Screen)
		want []string
	}{
		{"text", func(s *Screen) {
			h := s.Live("a")
			h.Update("b")
			h.Update("c")
		}, []string{"display a", "update b", "update c"}},
		{"a fast loop", func(s *Screen) {
			h := s.Live(framedText("0"))
			for i := range 100 {
				time.Sleep(6 * time.Millisecond)
				h.Update(framedText(fmt.Sprint(i)))
			}
			s.Settle()
			s.Settle()
		}, []string{"display frame 0", "update frame 40", "update frame 82", "update all of 99"}},
		{"a slow loop", func(s *Screen) {
			h := s.Live(framedText("0"))
			h.Update(framedText("1"))
			time.Sleep(time.Second)
			h.Update(framedText("2"))
			time.Sleep(5 * time.Second)
			h.Update(framedText("3"))
			s.Settle()
		}, []string{"display frame 0", "update frame 1", "update frame 2", "update all of 2", "update frame 3", "update all of 3"}},
		{"a goroutine that outlives its cell", func(s *Screen) {
			h := s.Live(framedText("0"))
			s.Settle()
			h.Update(framedText("1"))
		}, []string{"display frame 0", "update all of 0", "update frame 1", "update all of 1"}},
		{"another kind of value", func(s *Screen) {
			h := s.Live(framedText("0"))
			h.Update("text")
			s.Settle()
		}, []string{"display frame 0", "update text"}},
		{"two, and a pointer to nothing", func(s *Screen) {
			s.Live((*framedText)(nil))
			a, b := s.Live(framedText("a")), s.Live(framedText("b"))
			b.Update(framedText("b"))
			a.Update(framedText("c"))
			s.Settle()
		}, []string{"display <nil>", "display frame a", "display frame b", "update all of c", "update all of b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorder
				tt.run(NewScreen(func() Sink { return &r }))
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if !slices.Equal(r.log, tt.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(r.log, "\n"), strings.Join(tt.want, "\n"))
				}
			})
		})
	}
}

func TestFramesTakeASmallShare(t *testing.T) {
	for cost, want := range map[time.Duration]time.Duration{time.Millisecond: 250 * time.Millisecond, 40 * time.Millisecond: 4 * time.Second} {
		if got := (&Handle{cost: cost}).gap(); got != want {
			t.Errorf("frames of %v: got one in %v, want one in %v", cost, got, want)
		}
	}
}

func TestPrinter(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(s *Screen)
		log  string
		tty  string // with [[n text]] for the n-th line from the end, rewritten
	}{
		{"in turn", func(s *Screen) {
			s.Show("a")
			s.NewProgress(2, "bar").Set(2)
			s.Live("old").Update("new")
			s.Clear(false)
			s.Show("b")
		}, "a\nbar [····················] 0/2\nbar [████████████████████] 2/2\nold\nnew\nb\n",
			"a\n+bar [····················] 0/2[[0 bar [████████████████████] 2/2]]\n+old[[0 new]]\nb\n"},
		{"nested", func(s *Screen) {
			for range s.Track(2, "epochs") {
				for range s.Track(1, "steps") {
				}
			}
			s.Show("b")
		}, "epochs [····················] 0/2\nsteps [····················] 0/1\nepochs [████████████████████] 2/2\nb\n",
			"+epochs [····················] 0/2\n+steps [····················] 0/1[[0 steps [████████████████████] 1/1]]" +
				"[[0 steps [····················] 0/1]][[0 steps [████████████████████] 1/1]][[1 epochs [████████████████████] 2/2]]\nb\n"},
		{"an hour", func(s *Screen) {
			for i := range s.Track(3600, "") {
				if time.Sleep(time.Second); i == 1800 {
					s.Show("half")
				}
			}
		}, "[····················] 0/3600\n" +
			"[····················] 10/3600, 1/s, 59:50 left\n[····················] 30/3600, 1/s, 59:30 left\n" +
			"[····················] 70/3600, 1/s, 58:50 left\n[····················] 150/3600, 1/s, 57:30 left\n" +
			"[█···················] 310/3600, 1/s, 54:50 left\n[███·················] 610/3600, 1/s, 49:50 left\n" +
			"[█████···············] 910/3600, 1/s, 44:50 left\n[██████··············] 1210/3600, 1/s, 39:50 left\n" +
			"[████████············] 1510/3600, 1/s, 34:50 left\nhalf\n[██████████··········] 1810/3600, 1/s, 29:50 left\n" +
			"[███████████·········] 2110/3600, 1/s, 24:50 left\n[█████████████·······] 2410/3600, 1/s, 19:50 left\n" +
			"[███████████████·····] 2710/3600, 1/s, 14:50 left\n[████████████████····] 3010/3600, 1/s, 9:50 left\n" +
			"[██████████████████··] 3310/3600, 1/s, 4:50 left\n[████████████████████] 3600/3600 in 1 h 0 min, 1/s\n", ""},
	} {
		for _, tty := range []bool{false, true} {
			want := tt.log
			if tty {
				if want = tt.tty; want == "" {
					continue
				}
				want = regexp.MustCompile(`\+(.*?)(\[\[|\n|$)`).ReplaceAllString(want, noWrap+"$1"+wrapAgain+"$2")
				want = regexp.MustCompile(`\[\[1 (.*?)\]\]`).ReplaceAllString(want, "\x1b[1A"+clearLine+noWrap+"$1"+wrapAgain+"\x1b[1B")
				want = regexp.MustCompile(`\[\[0 (.*?)\]\]`).ReplaceAllString(want, clearLine+noWrap+"$1"+wrapAgain)
			}
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := NewPrinter(&out, tty)
				tt.run(NewScreen(func() Sink { return p }))
				if out.String() != want {
					t.Errorf("%s: terminal %v: got\n%q\nwant\n%q", tt.name, tty, out.String(), want)
				}
			})
		}
	}
}
