package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/cpu"

	"halfnote/amp/workload"
	"halfnote/kernel/client"
)

// Options say how [Run] measures.
type Options struct {
	Preset  string         // "laptop", which takes a minute or two, or "seed", the documents' full size; default "laptop"
	Peers   []string       // of "torch", "openblas" and "ipykernel"; none measures us alone
	Threads []int          // numbers of threads, one after the other; default 1, and 2 where there are as many processors
	Rounds  int            // of each row; default 8, for "seed" 12
	Match   *regexp.Regexp // the work and dtype of rows, as "mlp step bfloat16", that are measured; default all
	CPUTime bool           // count the processor time of all threads, over their number, instead of the clock
	Python  string         // the Python that has the peers; needed for them
	Worker  []string       // the command that runs [Serve]
	Kernel  client.Spec    // our kernel, for "cell"
	Log     io.Writer      // is told of every row; default nowhere
}

// Subjects are what Run can measure.
func Subjects() []string { return []string{"gemm", "ops", "mlp", "resnet", "bert", "cell"} }

// Peers are those that can do a subject's work.
func Peers(subject string) []string {
	switch subject {
	case "gemm":
		return []string{"torch", "openblas"}
	case "cell":
		return []string{"ipykernel"}
	}
	return []string{"torch"}
}

var tasks = map[string]func(seed bool) []task{"gemm": gemm, "ops": ops, "mlp": mlp, "resnet": resnet, "bert": bert}

// Run measures a subject until it is done or ctx ends. It returns an error if a process
// does not start or dies, or if a training step's losses differ from the peer's. Work that a
// peer cannot do has no peer.
func Run(ctx context.Context, subject string, o Options) (workload.Rows, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if len(o.Threads) == 0 {
		o.Threads = []int{1, 2}[:min(2, processors())]
	}
	for _, n := range o.Threads {
		if n < 1 || n > processors() {
			return nil, fmt.Errorf("bench: %d threads; expected 1 to %d, the processors that this process may use", n, processors())
		}
	}
	seed := o.Preset == "seed"
	if o.Rounds < 0 {
		return nil, fmt.Errorf("bench: %d rounds; expected 1 or more, or 0 for the preset's", o.Rounds)
	}
	if o.Rounds == 0 {
		o.Rounds = map[bool]int{false: 8, true: 12}[seed]
	}
	list, ok := tasks[subject]
	if subject == "cell" {
		return o.cells(ctx)
	}
	if !ok {
		return nil, fmt.Errorf("bench: %q is nothing to measure; expected one of %s", subject, strings.Join(Subjects(), ", "))
	}
	var rows workload.Rows
	for _, threads := range o.Threads {
		more, err := o.measure(ctx, list(seed), threads)
		rows = append(rows, more...)
		if ctx.Err() != nil {
			return rows, fmt.Errorf("bench: %w", context.Cause(ctx))
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// wanted tells whether work is to be measured.
func (o Options) wanted(work string) bool { return o.Match == nil || o.Match.MatchString(work) }

// measure measures tasks with a number of threads.
func (o Options) measure(ctx context.Context, list []task, threads int) (rows workload.Rows, err error) {
	list = append(list, memory(list)...)
	list = slices.DeleteFunc(list, func(t task) bool { return !o.wanted(t.name + " " + t.spec.DType) })
	b := table{Options: o, threads: threads}
	defer func() {
		for _, s := range b.sides {
			s.end()
		}
	}()
	if err := b.start(ctx, list); err != nil {
		return nil, err
	}
	for _, t := range list {
		var more workload.Rows
		var err error
		if t.unit == "MB" {
			more, err = b.peak(ctx, t)
		} else {
			more, err = b.row(t)
		}
		if err != nil {
			return rows, err
		}
		for _, r := range more {
			fmt.Fprintln(o.Log, line(r))
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// line is a row for those who wait.
func line(r workload.Row) string {
	s := fmt.Sprintf("%s %s, %d T: %.4g %s", r.Work, r.DType, r.Threads, r.Ours, r.Unit)
	if r.PeerName != "" {
		s += fmt.Sprintf(", %s %.4g, ratio %.2f", r.PeerName, r.Peer, r.Ratio)
	}
	return s
}

// table is where the sides sit.
type table struct {
	Options
	threads int
	sides   []*side // ours first
}

// start starts the sides that tasks need.
func (b *table) start(ctx context.Context, list []task) error {
	add := func(name string, argv []string, env ...string) (*side, error) {
		s, err := startSide(ctx, name, b.threads, argv, env...)
		if err == nil {
			b.sides = append(b.sides, s)
		}
		return s, err
	}
	ours, err := add("halfnote", b.Worker)
	if err != nil {
		return err
	}
	about := ours.about.About
	if tier := os.Getenv("HALFNOTE_CPU"); tier != "" {
		about += ", HALFNOTE_CPU=" + tier
	}
	fmt.Fprintf(b.Log, "%d threads: %s\n", b.threads, about)
	for _, peer := range []string{"openblas", "torch"} {
		if !slices.Contains(b.Peers, peer) || !slices.ContainsFunc(list, func(t task) bool { return slices.Contains(t.peers, peer) }) {
			continue
		}
		argv := []string{b.Python, "-u", "-c", peerProgram, peer, fmt.Sprint(b.threads)}
		s, err := add(peer, argv)
		if err != nil {
			return err
		}
		fmt.Fprintln(b.Log, peer+": "+strings.TrimSpace(s.about.About+" "+s.about.Core))
		// A core type that OpenBLAS does not know runs kernels of an older one.
		if right := core(); peer == "openblas" && right != "" && s.about.Core != right {
			if s, err = add("openblas "+right, argv, "OPENBLAS_CORETYPE="+right); err != nil {
				return err
			}
			fmt.Fprintf(b.Log, "%s: %s\n", s.name, s.about.Core)
		}
	}
	return nil
}

// core returns the name of OpenBLAS's best kernels for float32 on this processor, "" where
// that is not known.
func core() string {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return "SkylakeX"
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return "Haswell"
	}
	return ""
}

// entry is what one side does in a row.
type entry struct {
	*side
	name   string
	spec   Spec
	amount float64
	n      int       // times in a round
	values []float64 // of the rounds, in the task's unit
	losses []float64 // of the first steps
}

// row measures a task beside its peers in turn.
func (b *table) row(t task) (workload.Rows, error) {
	entries := []*entry{{side: b.sides[0], name: "halfnote", spec: t.spec, amount: t.amount}}
	for _, r := range t.own {
		entries = append(entries, &entry{side: b.sides[0], name: r.name, spec: r.spec, amount: r.amount})
	}
	for _, s := range b.sides[1:] {
		if peer, _, _ := strings.Cut(s.name, " "); slices.Contains(t.peers, peer) {
			entries = append(entries, &entry{side: s, name: s.name, spec: t.spec, amount: t.amount})
		}
	}
	var able []*entry
	for i, e := range entries {
		_, err := e.ask(request{Do: "prepare", Key: e.name, Spec: &e.spec})
		if err == nil {
			defer e.ask(request{Do: "forget", Key: e.name})
			err = b.calibrate(e)
		}
		var f failure
		switch {
		case err == nil:
			able = append(able, e)
		case i > 0 && errors.As(err, &f):
			fmt.Fprintf(b.Log, "%s %s: %v\n", t.name, t.spec.DType, err)
		default:
			return nil, err
		}
	}
	for _, e := range able[1:] {
		if err := agree(t, able[0], e); err != nil {
			return nil, err
		}
	}
	for range b.Rounds {
		for _, e := range able {
			a, err := e.ask(request{Do: "run", Key: e.name, N: e.n})
			if err != nil {
				return nil, err
			}
			e.values = append(e.values, t.value(b.took(a)/float64(e.n), e.amount))
		}
	}
	row := workload.Row{Work: t.name, DType: t.spec.DType, Threads: b.threads, Unit: t.unit}
	if len(able) == 1 {
		return workload.Rows{workload.NewRow(row, able[0].values, nil)}, nil
	}
	var rows workload.Rows
	for _, e := range able[1:] {
		row.PeerName = e.name
		rows = append(rows, workload.NewRow(row, able[0].values, e.values))
	}
	return rows, nil
}

// took returns the nanoseconds of a run.
func (b *table) took(a reply) float64 {
	if b.CPUTime {
		return max(float64(a.CPU)/float64(b.threads), 1)
	}
	return max(float64(a.NS), 1)
}

// calibrate chooses how often an entry's work is done in a round, by runs that grow until
// they are long enough for the clock.
func (b *table) calibrate(e *entry) error {
	target := float64(10 * time.Millisecond)
	if b.Preset == "seed" {
		target *= 3
	}
	e.n = 1
	for runs := 1; ; runs++ {
		a, err := e.ask(request{Do: "run", Key: e.name, N: e.n, Cold: true})
		if err != nil {
			return err
		}
		e.losses = append(e.losses, a.Losses...)
		took := float64(max(a.NS, 1))
		if took > target/2 && runs > 1 { // the first warms up
			e.n = max(1, int(float64(e.n)*target/took+.5))
			return nil
		}
		if runs > 1 {
			e.n = min(10*e.n, int(float64(e.n)*target/took)+1)
		}
	}
}

// agree compares the losses of the first steps, of which there are two at least.
func agree(t task, ours, peer *entry) error {
	if t.equal == 0 {
		return nil
	}
	for i := range min(len(ours.losses), len(peer.losses)) {
		x, y := ours.losses[i], peer.losses[i]
		if gap := x - y; !(max(gap, -gap) <= t.equal*max(y, 1e-3)) {
			return fmt.Errorf("bench: %s in %s: the losses of the first steps are %.6g, of %s %.6g; expected the same to %g", t.name, t.spec.DType, ours.losses, peer.name, peer.losses, t.equal)
		}
	}
	return nil
}
