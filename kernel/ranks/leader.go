package ranks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/kernel"
)

const (
	// settle is the time that the other ranks have to end after one has failed. Most often
	// all ranks fail in the same way; a rank that waits for the failed one in a collective never ends.
	settle = time.Second
	// patience is the time that the ranks have to end after an interrupt.
	patience = 10 * time.Second
)

// Leader runs cells on all ranks. It is the part of an evaluator on rank 0 that evaluates: a cell goes to the
// other ranks, then runs here, and has ended when it has ended everywhere.
//
// What the other ranks print follows when the cell has ended, in the order of ranks, each line with its
// rank in front: an executed notebook is the same in each run. A rank whose output equals that of rank 0 is
// left out. When a rank fails, the others are interrupted, and the error of the cell is that of the rank. A rank
// that ends takes the kernel with it: its cell and later ones fail.
type Leader struct {
	m    *Member
	eval kernel.Evaluator

	mu       sync.Mutex
	sequence int
	others   []*peer       // by rank; that of rank 0 is this process
	showing  bool          // whether the current cell shows records, or is silent
	order    int           // number of ranks that have ended the cell
	changed  chan struct{} // has room for one value
	lost     *kernel.Error // error of all later cells, once a rank is lost
}

// peer is what the leader knows of a rank in the current cell.
type peer struct {
	greeting
	ended  bool
	order  int // place in the order of ends
	result kernel.Result
	gone   bool
	words  string // last output of a rank that is gone

	now    *record // of the current cell
	before *record // of the cell before that did not show records
}

// Lead returns the leader of the ranks, whose cells run on eval here. stop is called when the launcher asks the
// kernel to end, or has ended.
func (m *Member) Lead(eval kernel.Evaluator, stop func()) *Leader {
	l := &Leader{m: m, eval: eval, changed: make(chan struct{}, 1)}
	for _, g := range m.roster {
		l.others = append(l.others, &peer{greeting: g, ended: true, now: new(record), before: new(record)})
	}
	if u, ok := eval.(kernel.RankUser); ok {
		u.UseRanks(l)
	}
	go func() {
		defer stop()
		for {
			msg, err := m.receive()
			if err != nil || msg.Kind == end {
				return
			}
			l.take(msg)
		}
	}()
	return l
}

// Close tells the launcher that the kernel has ended. It closes the evaluator.
func (l *Leader) Close() error {
	l.m.send(message{Kind: end})
	return l.eval.Close()
}

// take notes a message of another rank.
func (l *Leader) take(msg message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if msg.From < 1 || msg.From >= len(l.others) {
		return
	}
	p := l.others[msg.From]
	current := msg.Sequence == l.sequence
	switch {
	case msg.Kind == gone:
		p.gone, p.words = true, msg.Text
	case msg.Kind == done && current && msg.Result != nil:
		l.end(p, *msg.Result)
	case msg.Output != nil && current:
		p.now.apply(msg.Kind, *msg.Output)
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// end notes the end of the cell on a rank. mu must be held.
func (l *Leader) end(p *peer, r kernel.Result) {
	l.order++
	p.ended, p.order, p.result = true, l.order, r
	if r.Value != nil {
		p.now.apply(output, kernel.KeptOutput{Bundle: portable(*r.Value)})
	}
	if r.Err != nil {
		p.now.apply(output, kernel.KeptOutput{Err: r.Err})
	}
}

// Eval runs a cell on all ranks.
func (l *Leader) Eval(ctx context.Context, cell kernel.Cell, out kernel.Output) kernel.Result {
	own, failed, lost := l.begin(cell)
	if lost != nil {
		return kernel.Result{Err: lost}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(ctx, cancel)
	}()
	var r kernel.Result
	if r.Err = l.m.recovered(failed); r.Err == nil {
		r = l.eval.Eval(ctx, cell, tee{out, own.now})
	}
	l.mu.Lock()
	l.end(own, r)
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	<-watched
	if !cell.Silent {
		l.show(out)
	}
	if err := l.failure(); err != nil {
		r.Err = err
	}
	return r
}

// begin hands the cell to the other ranks, and reports whether the ranks parted in the cell before.
func (l *Leader) begin(cell kernel.Cell) (own *peer, failed bool, lost *kernel.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		if i := slices.IndexFunc(l.others, func(p *peer) bool { return p.gone }); i > 0 {
			l.lost = l.died(l.others[i], "between two cells")
		}
	}
	if l.lost != nil {
		return nil, false, l.lost
	}
	failed = l.parted()
	l.sequence++
	l.order = 0
	for _, p := range l.others {
		p.ended, p.result = false, kernel.Result{}
		if !l.showing {
			p.before = p.now
		}
		p.now = new(record)
	}
	l.showing = cell.Silent || strings.HasPrefix(strings.TrimSpace(cell.Code), "%ranks")
	l.m.send(message{Kind: run, Sequence: l.sequence, Cell: &cell, Recover: failed}) // a launcher that has ended stops this kernel
	return l.others[0], failed, nil
}

// parted reports whether a rank was interrupted in the cell, or failed otherwise than rank 0. mu must be held.
func (l *Leader) parted() bool {
	kind := func(e *kernel.Error) string {
		if e == nil {
			return ""
		}
		return e.Error()
	}
	own := l.others[0].result.Err
	return own != nil && own.Name == "Interrupted" || slices.ContainsFunc(l.others, func(p *peer) bool { return kind(p.result.Err) != kind(own) })
}

// watch waits until the cell has ended on all ranks. It interrupts them when ctx ends, and when one of them
// fails or is gone.
func (l *Leader) watch(ctx context.Context, cancel func()) {
	var settled, limit <-chan time.Time
	interrupted := ctx.Done()
	for {
		ended, failed, isGone := l.state()
		if ended {
			return
		}
		if isGone {
			cancel()
		} else if failed && settled == nil {
			settled = time.After(settle)
		}
		select {
		case <-l.changed:
		case <-settled:
			settled = nil
			cancel()
		case <-interrupted:
			interrupted = nil
			l.m.send(message{Kind: interrupt})
			limit = time.After(patience)
		case <-limit:
			l.abandon()
			return
		}
	}
}

// state reports whether all ranks have ended, whether one has failed, and whether one is gone.
func (l *Leader) state() (ended, failed, isGone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended = true
	for _, p := range l.others {
		ended = ended && (p.ended || p.gone)
		failed = failed || p.ended && p.result.Err != nil
		isGone = isGone || p.gone
	}
	return ended, failed, isGone
}

// abandon notes the ranks that did not end after an interrupt.
func (l *Leader) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var late []int
	for _, p := range l.others {
		if !p.ended && !p.gone {
			late = append(late, p.Rank)
		}
	}
	l.lost = &kernel.Error{Name: "RankLost", Value: fmt.Sprintf("%s did not end within %v of the interrupt; restart the kernel", list(late), patience)}
	l.lost.Traceback = []string{l.lost.Error()}
}

// died returns the error of a cell that lost a rank. mu must be held.
func (l *Leader) died(p *peer, when string) *kernel.Error {
	e := &kernel.Error{Name: "RankDied", Value: fmt.Sprintf("rank %d of %d (process %d on %s) ended %s", p.Rank, len(l.others), p.Pid, p.Host, when)}
	e.Traceback = []string{e.Error()}
	if p.words != "" {
		e.Traceback = append(e.Traceback, fmt.Sprintf("The last lines of rank %d:", p.Rank))
		e.Traceback = append(e.Traceback, strings.Split(p.words, "\n")...)
	}
	e.Traceback = append(e.Traceback, "The ranks cannot go on without it: restart the kernel.")
	return e
}

// failure returns the error of the cell: the end of a rank, or the first error that is not an
// interrupt, with what the other ranks were doing.
func (l *Leader) failure() *kernel.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	var first *peer
	for _, p := range l.others {
		switch {
		case p.gone:
			l.lost = l.died(p, "while the cell ran")
			return l.lost
		case p.result.Err == nil:
		case first == nil, first.urgency() > p.urgency(), first.urgency() == p.urgency() && p.order < first.order:
			first = p
		}
	}
	if own := l.others[0].result.Err; first != nil && own != nil && own.Error() == first.result.Err.Error() {
		first = l.others[0] // its traceback needs no number
	}
	if first == nil {
		return nil
	}
	e := *first.result.Err
	if first.Rank > 0 {
		e.Value = fmt.Sprintf("rank %d: %s", first.Rank, e.Value)
		e.Traceback = append([]string{fmt.Sprintf("On rank %d:", first.Rank)}, e.Traceback...)
	}
	e.Traceback = append(slices.Clone(e.Traceback), l.elsewhere(first)...)
	return &e
}

// urgency orders the errors of ranks: one that was only interrupted is the last.
func (p *peer) urgency() int {
	if p.result.Err.Name == "Interrupted" {
		return 1
	}
	return 0
}

// elsewhere says how the cell ended on the other ranks, unless it failed there in the same way. Ranks with
// the same end share an entry. mu must be held.
func (l *Leader) elsewhere(first *peer) (lines []string) {
	type group struct {
		ranks []int
		what  []string
	}
	var groups []group
	same := true
	for _, p := range l.others {
		if p == first {
			continue
		}
		what := []string{"ended the cell without an error"}
		if e := p.result.Err; e != nil {
			what = e.Traceback
			same = same && e.Name == first.result.Err.Name && e.Value == first.result.Err.Value
		} else {
			same = false
		}
		if i := slices.IndexFunc(groups, func(g group) bool { return slices.Equal(g.what, what) }); i >= 0 {
			groups[i].ranks = append(groups[i].ranks, p.Rank)
		} else {
			groups = append(groups, group{[]int{p.Rank}, what})
		}
	}
	if same {
		return nil
	}
	for _, g := range groups {
		if len(g.what) == 1 {
			lines = append(lines, capital(list(g.ranks))+": "+g.what[0])
			continue
		}
		lines = append(lines, capital(list(g.ranks))+":")
		lines = append(lines, g.what...)
	}
	return lines
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
