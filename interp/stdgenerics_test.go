package interp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/library"
)

// pair is a struct type that the cells declare too.
type pair struct {
	A int
	B string
}

func byB(x, y pair) int { return strings.Compare(x.B, y.B) }

// TestStdGenericFunctions checks that every generic function of slices and maps returns the
// same result in a cell as in compiled code. Each line has both forms.
func TestStdGenericFunctions(t *testing.T) {
	ints := func() []int { return []int{3, 1, 2, 1} }
	sorted := []int{1, 1, 2, 3}
	pairs := func() []pair { return []pair{{1, "c"}, {2, "a"}, {3, "b"}, {4, "a"}} }
	table := func() map[string]int { return map[string]int{"a": 1, "b": 2, "c": 3} }
	even := func(n int) bool { return n%2 == 0 }
	tests := []struct {
		name, cell string
		want       []any
	}{
		{"slices.All", `for i, v := range slices.All(pairs()) { fmt.Print(i, v, " ") }; fmt.Println()`, []any{"0 {1 c} 1 {2 a} 2 {3 b} 3 {4 a} "}},
		{"slices.AppendSeq", `fmt.Println(slices.AppendSeq(ints(), slices.Values(sorted)))`, []any{slices.AppendSeq(ints(), slices.Values(sorted))}},
		{"slices.Backward", `for i, v := range slices.Backward(ints()) { fmt.Print(i, v, " ") }; fmt.Println()`, []any{"3 1 2 2 1 1 0 3 "}},
		{"slices.BinarySearch", `fmt.Println(slices.BinarySearch(sorted, 2))`, two(slices.BinarySearch(sorted, 2))},
		{"slices.BinarySearchFunc", `fmt.Println(slices.BinarySearchFunc(pairs(), 3, func(p pair, n int) int { return p.A - n }))`,
			two(slices.BinarySearchFunc(pairs(), 3, func(p pair, n int) int { return p.A - n }))},
		{"slices.Chunk", `fmt.Println(slices.Collect(slices.Chunk(ints(), 3)))`, []any{slices.Collect(slices.Chunk(ints(), 3))}},
		{"slices.Clip", `fmt.Println(cap(slices.Clip(make([]pair, 2, 9))))`, []any{cap(slices.Clip(make([]pair, 2, 9)))}},
		{"slices.Clone", `x := pairs(); y := slices.Clone(x); y[0].A = 9; fmt.Println(x[0], y[0])`, []any{pair{1, "c"}, pair{9, "c"}}},
		{"slices.Collect", `fmt.Println(slices.Collect(slices.Values(pairs())))`, []any{slices.Collect(slices.Values(pairs()))}},
		{"slices.Compact", `fmt.Println(slices.Compact(slices.Clone(sorted)))`, []any{slices.Compact(slices.Clone(sorted))}},
		{"slices.CompactFunc", `fmt.Println(slices.CompactFunc(ints(), func(a, b int) bool { return a > b }))`, []any{slices.CompactFunc(ints(), func(a, b int) bool { return a > b })}},
		{"slices.Compare", `fmt.Println(slices.Compare(ints(), sorted))`, []any{slices.Compare(ints(), sorted)}},
		{"slices.CompareFunc", `fmt.Println(slices.CompareFunc(pairs(), pairs()[1:], byB))`, []any{slices.CompareFunc(pairs(), pairs()[1:], byB)}},
		{"slices.Concat", `fmt.Println(slices.Concat(pairs(), pairs()[:1]))`, []any{slices.Concat(pairs(), pairs()[:1])}},
		{"slices.Contains", `fmt.Println(slices.Contains(pairs(), pair{2, "a"}))`, []any{slices.Contains(pairs(), pair{2, "a"})}},
		{"slices.ContainsFunc", `fmt.Println(slices.ContainsFunc(ints(), even))`, []any{slices.ContainsFunc(ints(), even)}},
		{"slices.Delete", `fmt.Println(slices.Delete(pairs(), 1, 3))`, []any{slices.Delete(pairs(), 1, 3)}},
		{"slices.DeleteFunc", `fmt.Println(slices.DeleteFunc(ints(), even))`, []any{slices.DeleteFunc(ints(), even)}},
		{"slices.Equal", `fmt.Println(slices.Equal(pairs(), pairs()))`, []any{slices.Equal(pairs(), pairs())}},
		{"slices.EqualFunc", `fmt.Println(slices.EqualFunc(ints(), pairs(), func(n int, p pair) bool { return n == p.A }))`,
			[]any{slices.EqualFunc(ints(), pairs(), func(n int, p pair) bool { return n == p.A })}},
		{"slices.Grow", `fmt.Println(len(slices.Grow(ints(), 9)), cap(slices.Grow(ints(), 9)) >= 13)`, []any{4, true}},
		{"slices.Index", `fmt.Println(slices.Index(pairs(), pair{3, "b"}))`, []any{slices.Index(pairs(), pair{3, "b"})}},
		{"slices.IndexFunc", `fmt.Println(slices.IndexFunc(ints(), even))`, []any{slices.IndexFunc(ints(), even)}},
		{"slices.Insert", `x := pairs(); fmt.Println(slices.Insert(x, 1, x[2:]...))`, []any{slices.Insert(pairs(), 1, pairs()[2:]...)}},
		{"slices.IsSorted", `fmt.Println(slices.IsSorted(ints()), slices.IsSorted(sorted))`, []any{slices.IsSorted(ints()), slices.IsSorted(sorted)}},
		{"slices.IsSortedFunc", `fmt.Println(slices.IsSortedFunc(pairs(), byB))`, []any{slices.IsSortedFunc(pairs(), byB)}},
		{"slices.Max", `fmt.Println(slices.Max([]string{"b", "c", "a"}))`, []any{slices.Max([]string{"b", "c", "a"})}},
		{"slices.MaxFunc", `fmt.Println(slices.MaxFunc(pairs(), byB))`, []any{slices.MaxFunc(pairs(), byB)}},
		{"slices.Min", `fmt.Println(slices.Min([]float32{2, .5}))`, []any{slices.Min([]float32{2, .5})}},
		{"slices.MinFunc", `fmt.Println(slices.MinFunc(pairs(), byB))`, []any{slices.MinFunc(pairs(), byB)}},
		{"slices.Repeat", `fmt.Println(slices.Repeat(pairs()[:2], 3))`, []any{slices.Repeat(pairs()[:2], 3)}},
		{"slices.Replace", `x := pairs(); fmt.Println(slices.Replace(x, 0, 1, x[1:]...))`, []any{slices.Replace(pairs(), 0, 1, pairs()[1:]...)}},
		{"slices.Reverse", `x := pairs(); slices.Reverse(x); fmt.Println(x)`, []any{did(pairs(), slices.Reverse)}},
		{"slices.Sort", `x := many(); slices.Sort(x); fmt.Println(x)`, []any{did(many(), slices.Sort)}},
		{"slices.SortFunc", `x := many(); slices.SortFunc(x, func(a, b int) int { return a%7 - b%7 }); fmt.Println(x)`,
			[]any{did(many(), func(s []int) { slices.SortFunc(s, func(a, b int) int { return a%7 - b%7 }) })}},
		{"slices.SortStableFunc", `x := pairs(); slices.SortStableFunc(x, byB); fmt.Println(x)`, []any{did(pairs(), func(s []pair) { slices.SortStableFunc(s, byB) })}},
		{"slices.Sorted", `fmt.Println(slices.Sorted(maps.Keys(table())))`, []any{slices.Sorted(maps.Keys(table()))}},
		{"slices.SortedFunc", `fmt.Println(slices.SortedFunc(slices.Values(ints()), func(a, b int) int { return b - a }))`,
			[]any{slices.SortedFunc(slices.Values(ints()), func(a, b int) int { return b - a })}},
		{"slices.SortedStableFunc", `fmt.Println(slices.SortedStableFunc(slices.Values(pairs()), byB))`, []any{slices.SortedStableFunc(slices.Values(pairs()), byB)}},
		{"slices.Values", `for v := range slices.Values(pairs()) { fmt.Print(v.B) }; fmt.Println()`, []any{"caba"}},

		{"maps.All", `x := 0; for k, v := range maps.All(table()) { x += len(k) * v }; fmt.Println(x)`, []any{6}},
		{"maps.Clone", `x := table(); y := maps.Clone(x); y["a"] = 9; fmt.Println(x, y)`, []any{table(), map[string]int{"a": 9, "b": 2, "c": 3}}},
		{"maps.Collect", `fmt.Println(maps.Collect(slices.All(pairs())))`, []any{maps.Collect(slices.All(pairs()))}},
		{"maps.Copy", `x := table(); maps.Copy(x, map[string]int{"c": 9, "d": 4}); fmt.Println(x)`, []any{map[string]int{"a": 1, "b": 2, "c": 9, "d": 4}}},
		{"maps.DeleteFunc", `x := table(); maps.DeleteFunc(x, func(k string, v int) bool { return even(v) }); fmt.Println(x)`, []any{map[string]int{"a": 1, "c": 3}}},
		{"maps.Equal", `fmt.Println(maps.Equal(table(), table()))`, []any{maps.Equal(table(), table())}},
		{"maps.EqualFunc", `fmt.Println(maps.EqualFunc(table(), map[string]string{"a": "1"}, func(n int, s string) bool { return fmt.Sprint(n) == s }))`,
			[]any{maps.EqualFunc(table(), map[string]string{"a": "1"}, func(n int, s string) bool { return fmt.Sprint(n) == s })}},
		{"maps.Insert", `x := map[int]pair{}; maps.Insert(x, slices.All(pairs())); fmt.Println(x)`, []any{maps.Collect(slices.All(pairs()))}},
		{"maps.Keys", `fmt.Println(slices.Sorted(maps.Keys(map[pairKey]int{"x": 1, "a": 2})))`, []any{"[a x]"}},
		{"maps.Values", `fmt.Println(slices.Sorted(maps.Values(table())))`, []any{slices.Sorted(maps.Values(table()))}},

		{"cmp.Compare", `fmt.Println(cmp.Compare(math.NaN(), 1), cmp.Compare("b", "a"))`, []any{-1, cmp.Compare("b", "a")}},
		{"cmp.Less", `fmt.Println(cmp.Less(1, 2))`, []any{cmp.Less(1, 2)}},
		{"cmp.Or", `fmt.Println(cmp.Or("", "x"), cmp.Or(pair{}, pair{1, "y"}))`, []any{cmp.Or("", "x"), cmp.Or(pair{}, pair{1, "y"})}},
	}
	s := newSession(t)
	evalFor(t, s, 1, `import ("slices"; "maps"; "cmp")
type pair struct { A int; B string }
type pairKey string
func byB(x, y pair) int { return strings.Compare(x.B, y.B) }
func ints() []int { return []int{3, 1, 2, 1} }
func pairs() []pair { return []pair{{1, "c"}, {2, "a"}, {3, "b"}, {4, "a"}} }
func table() map[string]int { return map[string]int{"a": 1, "b": 2, "c": 3} }
func even(n int) bool { return n%2 == 0 }
func many() []int { var list []int; for i := range 300 { list = append(list, i*7919%1009) }; return list }
sorted := []int{1, 1, 2, 3}`, "")
	covered := map[string]bool{}
	for i, tt := range tests {
		covered[tt.name] = true
		if got, want := evalFor(t, s, i+2, tt.cell, ""), fmt.Sprintln(tt.want...); got != want {
			t.Errorf("%s\ngot  %swant %s", tt.cell, got, want)
		}
	}
	for _, path := range []string{"slices", "maps", "cmp"} {
		p, err := exports.Importer().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			if library.Generic(p.Scope().Lookup(name)) && !covered[path+"."+name] {
				t.Errorf("no test calls %s.%s", path, name)
			}
		}
	}
}

func many() (list []int) {
	for i := range 300 {
		list = append(list, i*7919%1009)
	}
	return
}

func two(a, b any) []any { return []any{a, b} }

// did calls f with s and returns s.
func did[E any](s []E, f func([]E)) []E {
	f(s)
	return s
}

// TestStdGenericsHaveSource checks that every generic function and type of the standard
// library that cells can import has source, except those that cannot run.
func TestStdGenericsHaveSource(t *testing.T) {
	without := []string{"runtime.AddCleanup"}
	s := newSession(t)
	for _, path := range exports.Packages() {
		p, err := s.front.Importer.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() || !library.Generic(o) {
				continue
			}
			if got, want := s.front.Std.Name(o) != "", !slices.Contains(without, path+"."+name); got != want {
				t.Errorf("%s.%s: has source: %v, want %v", path, name, got, want)
			}
		}
	}
}
