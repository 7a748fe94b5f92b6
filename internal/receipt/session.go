package receipt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/internal/text"
)

// Run is a cell that a session has run.
type Run struct {
	Count   int // n of In[n]
	Source  string
	Outputs []Output
}

// Session is what a session has run so far.
type Session struct {
	Release string // version of halfnote
	Runs    []Run  // in the order in which they ran
	Tensor  func(name string) (d Digest, at func(i int) uint64, ok bool)
}

// shownCells is the maximum number of cells that a comparison lists.
const shownCells = 8

// Compare returns a text on whether the session's numbers are those of the book: the outputs of the cells that it ran as they stand there, and the tensors that their variables
// hold now. Of a cell that ran several times, the last run counts. It names the cells that are not the book's, which change what comes after them.
func (b *Book) Compare(s Session) string {
	runs, own := b.align(s.Runs)
	var parted, notes []string
	ran, outputs, timed, tensors := 0, 0, 0, map[string]int{} // the last cell that set a tensor
	for i, e := range b.Receipt.Cells {
		r := runs[i]
		if r == nil {
			continue
		}
		ran++
		for name := range e.State.Tensors {
			tensors[name] = i
		}
		for _, name := range e.State.Gone {
			delete(tensors, name)
		}
		if Compares(r.Source) {
			continue
		}
		if e.State.Timed {
			timed++
			continue
		}
		outputs += len(e.Outputs)
		if what := b.outputsDiffer(r.Outputs, e.Outputs); what != "" {
			parted = append(parted, fmt.Sprintf("%s: %s", named(*r), what))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		e, r := b.Receipt.Cells[tensors[name]], runs[tensors[name]]
		old, err := Parse(e.State.Tensors[name])
		if err != nil {
			continue
		}
		d, at, ok := s.Tensor(name)
		switch what := d.Against(old, at); {
		case !ok:
			parted = append(parted, fmt.Sprintf("%s: %s does not exist", named(*r), name))
		case what != "":
			parted = append(parted, fmt.Sprintf("%s: %s: %s", named(*r), name, strings.ReplaceAll(what, "recorded", "in the book")))
		}
	}
	var out strings.Builder
	all := len(b.Receipt.Cells)
	agree := fmt.Sprintf("%s and %s agree to the last bit.", text.Count(outputs, "output"), text.Count(len(tensors), "tensor"))
	switch {
	case ran == 0 || ran == 1 && len(s.Runs) == 1:
		return "No cell of the notebook has run yet."
	case len(parted) > 0:
		fmt.Fprintf(&out, "Your numbers part from the book's.\n")
		list(&out, parted)
		notes = b.reasons(s, runs, own)
	case ran == all:
		fmt.Fprintf(&out, "Your numbers are the book's: all %s ran, and %s\n", text.Count(all, "cell"), agree)
	default:
		fmt.Fprintf(&out, "Your numbers are the book's in the %s of %d that ran as they stand there: %s\n", text.Count(ran, "cell"), all, agree)
	}
	if len(own) > 0 {
		fmt.Fprintf(&out, "%s yours:\n", map[bool]string{true: "1 cell is", false: fmt.Sprintf("%d cells are", len(own))}[len(own) == 1])
		list(&out, own)
	}
	for _, n := range notes {
		fmt.Fprintln(&out, n)
	}
	if timed > 0 {
		fmt.Fprintf(&out, "The outputs of %s are not compared: they show times.\n", text.Count(timed, "cell"))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func list(out *strings.Builder, lines []string) {
	for _, line := range lines[:min(len(lines), shownCells)] {
		fmt.Fprintf(out, "  %s\n", line)
	}
	if more := len(lines) - shownCells; more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
}

// named returns the number and the first line of a cell.
func named(r Run) string {
	first, _, more := strings.Cut(strings.TrimSpace(r.Source), "\n")
	if more {
		first += " …"
	}
	return fmt.Sprintf("In[%d] %s", r.Count, text.Cut(first, 60))
}

// align returns the last run of each cell of the receipt, and the cells that are not in the receipt. Of cells with the same source, the last run is that
// of the last.
func (b *Book) align(list []Run) (runs []*Run, own []string) {
	runs = make([]*Run, len(b.Receipt.Cells))
	places := map[string][]int{}
	for i, e := range b.Receipt.Cells {
		places[e.Source] = append(places[e.Source], i)
	}
	known := map[string]bool{}
	for _, r := range slices.Backward(list) {
		source := Hash(r.Source)
		switch left := places[source]; {
		case len(left) > 0:
			runs[left[len(left)-1]] = &r
			places[source] = left[:len(left)-1]
		case left == nil && !known[source] && !Compares(r.Source):
			own = append(own, named(r))
		}
		known[source] = true
	}
	slices.Reverse(own)
	return runs, own
}

// outputsDiffer says how a cell's outputs differ from the recorded ones, or "".
func (b *Book) outputsDiffer(now []Output, was []string) string {
	for i := range min(len(now), len(was)) {
		if now[i].Hash() == was[i] {
			continue
		}
		old, ok := b.outputs[was[i]]
		if !ok {
			return fmt.Sprintf("output %d differs", i+1)
		}
		line, mine, theirs := Parting(now[i].Text, old)
		return fmt.Sprintf("output %d, line %d: %q; the book has %q", i+1, line, text.Cut(mine, 80), text.Cut(theirs, 80))
	}
	if len(now) != len(was) {
		return fmt.Sprintf("%s; the book has %d", text.Count(len(now), "output"), len(was))
	}
	return ""
}

// reasons returns what can have made a difference: cells that ran several times or in another order, or another version.
func (b *Book) reasons(s Session, runs []*Run, own []string) (list []string) {
	times := map[string]int{}
	for _, r := range s.Runs {
		times[Hash(r.Source)]++
	}
	there := map[string]int{}
	for _, e := range b.Receipt.Cells {
		there[e.Source]++
	}
	var before *Run
	missing := 0
	for i, r := range runs {
		if r == nil {
			missing++
			continue
		}
		if n := times[b.Receipt.Cells[i].Source]; n > there[b.Receipt.Cells[i].Source] && !Compares(r.Source) {
			list = append(list, fmt.Sprintf("%s ran %d times.", named(*r), n))
		}
		if before != nil && r.Count < before.Count {
			list = append(list, fmt.Sprintf("In[%d] ran after In[%d], which follows it in the book.", before.Count, r.Count))
		}
		if missing > 0 {
			list = append(list, fmt.Sprintf("Before In[%d] the book has %s that did not run as %s there.", r.Count, text.Count(missing, "cell"), map[bool]string{true: "it stands", false: "they stand"}[missing == 1]))
		}
		missing, before = 0, r
	}
	if b.Receipt.Release != s.Release {
		list = append(list, fmt.Sprintf("The receipt is of halfnote %s, and this is %s: the change log lists results whose bits have changed.", b.Receipt.Release, s.Release))
	}
	if list == nil && own == nil {
		list = append(list, "halfnote verify runs the notebook and names the first operation that differs.")
	}
	return list[:min(len(list), shownCells)]
}
