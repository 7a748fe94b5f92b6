package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"halfnote/kernel/client"
)

// Options say how [Run] measures.
type Options struct {
	Device  string         // "cpu" or "cuda", where we and the peers compute; default "cpu"
	Preset  string         // "laptop", which takes a minute or two, or "full", the sizes of the papers; default "laptop"
	Peers   []string       // of "torch", "openblas" and "ipykernel"; none measures us alone
	Threads []int          // numbers of threads, one after the other; default 1, and 2 where there are as many processors
	Rounds  int            // of each row; default 8, for "full" 12, for cells 3
	Match   *regexp.Regexp // the work and dtype of rows, as "mlp step bfloat16", that are measured; default all
	CPUTime bool           // count the processor time of all threads, over their number, instead of the clock
	Python  string         // the Python that has the peers; needed for them
	Worker  []string       // the command that runs [Serve]
	Kernel  client.Spec    // our kernel, for "cell"
	Log     io.Writer      // is told of every row; default nowhere
}

// Subjects returns what Run can measure.
func Subjects() []string { return []string{"gemm", "ops", "mlp", "resnet", "bert", "cell"} }

// Peers returns the peers that can do a subject's work.
func Peers(subject string) []string {
	switch subject {
	case "gemm":
		return []string{"torch", "openblas"}
	case "cell":
		return []string{"ipykernel"}
	}
	return []string{"torch"}
}

var tasks = map[string]func(full bool) []task{"gemm": gemm, "ops": ops, "mlp": mlp, "resnet": resnet, "bert": bert}

// deviceSubjects are what Run can measure on other devices than the CPU.
var deviceSubjects = []string{"gemm", "mlp", "resnet", "bert"}

// complete returns o with defaults, or what is wrong with it.
func (o Options) complete(subject string) (Options, error) {
	if !slices.Contains(Subjects(), subject) {
		return o, fmt.Errorf("bench: unknown subject %q; expected one of %s", subject, strings.Join(Subjects(), ", "))
	}
	if o.Device == "" {
		o.Device = "cpu"
	}
	if o.Device != "cpu" && !slices.Contains(deviceSubjects, subject) {
		return o, fmt.Errorf("bench: %s is measured on the CPU alone; expected one of %s on %s", subject, strings.Join(deviceSubjects, ", "), o.Device)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	switch {
	case len(o.Threads) > 0:
	case o.Device != "cpu": // of the host, which feeds the device
		o.Threads = []int{min(8, processors())}
	default:
		o.Threads = []int{1, 2}[:min(2, processors())]
	}
	for _, n := range o.Threads {
		if n < 1 || n > processors() {
			return o, fmt.Errorf("bench: %d threads; expected 1 to %d, the processors that this process may use", n, processors())
		}
	}
	if o.Rounds < 0 {
		return o, fmt.Errorf("bench: %d rounds; expected 1 or more, or 0 for the preset's", o.Rounds)
	}
	if o.Rounds == 0 && subject == "cell" {
		o.Rounds = 3
	}
	if o.Rounds == 0 {
		o.Rounds = map[bool]int{false: 8, true: 12}[o.Preset == "full"]
	}
	return o, nil
}

// Check returns an error if o does not fit the subject.
func (o Options) Check(subject string) error {
	_, err := o.complete(subject)
	return err
}

// Run measures a subject until it is done or ctx ends. It returns an error if a process
// does not start or dies, or if a training step's losses differ from the peer's. Work that a
// peer cannot do has no peer.
func Run(ctx context.Context, subject string, o Options) (Rows, error) {
	o, err := o.complete(subject)
	if err != nil {
		return nil, err
	}
	if subject == "cell" {
		return o.cells(ctx)
	}
	if load := busy(); load > .5 {
		fmt.Fprintf(o.Log, "other programs are busy here (a load of %.1f): expect wide spreads, most of all with several threads, which wait for each other\n", load)
	}
	var rows Rows
	work := tasks[subject](o.Preset == "full")
	if o.Device != "cpu" && subject != "gemm" {
		work = gpuSteps(subject, o.Preset == "full")
	}
	for _, threads := range o.Threads {
		more, err := o.measure(ctx, work, threads)
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

// busy returns how many programs wanted a processor in the last minute, 0 where that is not
// known.
func busy() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(text), &load)
	return load
}

// wanted reports whether work is to be measured.
func (o Options) wanted(work string) bool { return o.Match == nil || o.Match.MatchString(work) }

// measure measures tasks with a number of threads.
func (o Options) measure(ctx context.Context, list []task, threads int) (rows Rows, err error) {
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
		var more Rows
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

// line returns a row as a line of progress.
func line(r Row) string {
	s := strings.TrimSpace(r.Work+" "+r.DType) + fmt.Sprintf(", %d T: %.4g %s", r.Threads, r.Ours, r.Unit)
	if r.PeerName != "" {
		s += fmt.Sprintf(", %s %.4g, ratio %.2f", r.PeerName, r.Peer, r.Ratio)
	}
	return s
}

// table is a measurement with a number of threads.
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
	ours, err := add("halfnote", append(slices.Clone(b.Worker), b.Device))
	if err != nil {
		return err
	}
	about := ours.about.About
	if tier := os.Getenv("HALFNOTE_CPU"); tier != "" {
		about += ", HALFNOTE_CPU=" + tier
	}
	fmt.Fprintf(b.Log, "%d threads: %s\n", b.threads, about)
	for _, peer := range []string{"openblas", "torch"} {
		if b.Device != "cpu" && peer == "openblas" || !slices.Contains(b.Peers, peer) || !slices.ContainsFunc(list, func(t task) bool { return slices.Contains(t.peers, peer) }) {
			continue
		}
		argv := []string{b.Python, "-u", "-c", peerProgram, peer, fmt.Sprint(b.threads), b.Device}
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
