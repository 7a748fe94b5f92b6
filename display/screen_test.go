package display

import (
	"bytes"
	"container/list"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"reflect"
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

func TestPrinter(t *testing.T) {
	for _, tt := range []struct {
		tty  bool
		want string
	}{
		{false, "a\nbar [····················] 0/2\nbar [████████████████████] 2/2\nold\nnew\nb\n"},
		{true, "a\nbar [····················] 0/2\r\x1b[Kbar [████████████████████] 2/2\nold\r\x1b[Knew\nb\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := &printer{out: func() (io.Writer, bool) { return &out, tt.tty }}
			s := NewScreen(func() Sink { return p })
			s.Show("a")
			s.NewProgress(2, "bar").Set(2)
			s.Live("old").Update("new")
			s.Clear(false)
			s.Show("b")
			if out.String() != tt.want {
				t.Errorf("terminal %v: got %q, want %q", tt.tty, out.String(), tt.want)
			}
		})
	}
}
