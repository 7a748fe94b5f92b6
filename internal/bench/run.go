package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"halfnote/kernel/client"
)

// Options are the settings of [Run].
type Options struct {
	Device  string         // device of halfnote and of the peers, "cpu" or "cuda"; default "cpu"
	Preset  string         // "laptop", which takes a minute or two, or "full", the sizes of the papers; default "laptop"
	Peers   []string       // peers to measure: "torch", "openblas", "ipykernel"; empty for halfnote alone
	Threads []int          // numbers of threads, one after the other; default 1, and 2 if there are 2 processors
	Rounds  int            // number of rounds of each row; default 8, for "full" 12, for cells 3
	Match   *regexp.Regexp // work and dtype of the rows to measure, for example "mlp step bfloat16"; default all
	CPUTime bool           // whether to measure the processor time of all threads, divided by their number, instead of elapsed time
	Python  string         // Python that has the peers; required for peers
	Worker  []string       // command that runs [Serve]
	Kernel  client.Spec    // halfnote's kernel, for "cell"
	Log     io.Writer      // gets a line for every row; nil discards them

	empty string // folder in which the sides start, so that Python imports nothing from the working folder
}

// Subjects returns the subjects that Run can measure.
func Subjects() []string { return []string{"gemm", "ops", "formats", "mlp", "resnet", "bert", "cell"} }

// Peers returns the peers that support a subject.
func Peers(subject string) []string {
	switch subject {
	case "gemm":
		return []string{"torch", "openblas"}
	case "cell":
		return []string{"ipykernel"}
	}
	return []string{"torch"}
}

var tasks = map[string]func(full bool) []task{"gemm": gemm, "ops": ops, "formats": formats, "mlp": mlp, "resnet": resnet, "bert": bert}

// deviceSubjects are the subjects that Run can measure on devices other than the CPU.
var deviceSubjects = []string{"gemm", "mlp", "resnet", "bert"}

// complete returns o with defaults filled in, or an error if o is invalid.
func (o Options) complete(subject string) (Options, error) {
	if !slices.Contains(Subjects(), subject) {
		return o, fmt.Errorf("bench: unknown subject %q; want one of %s", subject, strings.Join(Subjects(), ", "))
	}
	if o.Device == "" {
		o.Device = "cpu"
	}
	if o.Device != "cpu" && !slices.Contains(deviceSubjects, subject) {
		return o, fmt.Errorf("bench: %s is measured on the CPU only; want one of %s on %s", subject, strings.Join(deviceSubjects, ", "), o.Device)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	switch {
	case len(o.Threads) > 0:
	case o.Device != "cpu": // threads of the host, which feeds the device
		o.Threads = []int{min(8, processors())}
	default:
		o.Threads = []int{1, 2}[:min(2, processors())]
	}
	for _, n := range o.Threads {
		if n < 1 || n > processors() {
			return o, fmt.Errorf("bench: %d threads; want 1 to %d, the processors that this process may use", n, processors())
		}
	}
	if o.Rounds < 0 {
		return o, fmt.Errorf("bench: %d rounds; want 1 or more, or 0 for the preset's", o.Rounds)
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
// does not start or dies, or if the losses of training steps differ from the peer's. Rows of
// work that a peer cannot do have no peer.
func Run(ctx context.Context, subject string, o Options) (Rows, error) {
	o, err := o.complete(subject)
	if err != nil {
		return nil, err
	}
	if o.empty, err = os.MkdirTemp("", "halfnote-bench-"); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(o.empty)
	if strings.ContainsRune(o.Python, filepath.Separator) {
		if o.Python, err = filepath.Abs(o.Python); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
	}
	if subject == "cell" {
		return o.cells(ctx)
	}
	if load := busy(); load > .5 {
		fmt.Fprintf(o.Log, "other programs are busy on this machine (load %.1f): expect wide spreads, especially with several threads, which wait for each other\n", load)
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

// busy returns the average number of runnable programs in the last minute; 0 if it is unknown.
func busy() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(text), &load)
	return load
}

// wanted reports whether work is selected for measurement.
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

// line formats a row as a line of progress.
func line(r Row) string {
	s := strings.TrimSpace(r.Work+" "+r.DType) + fmt.Sprintf(", %d T: %.4g %s", r.Threads, r.Ours, r.Unit)
	if r.PeerName != "" {
		s += fmt.Sprintf(", %s %.4g, ratio %.2f", r.PeerName, r.Peer, r.Ratio)
	}
	return s
}

// table is the measurement with one number of threads.
type table struct {
	Options
	threads int
	sides   []*side // sides, halfnote's first
}

// start starts the sides that tasks need.
func (b *table) start(ctx context.Context, list []task) error {
	add := func(name string, argv []string, env ...string) (*side, error) {
		s, err := startSide(ctx, name, b.empty, b.threads, argv, env...)
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
		// OpenBLAS runs older kernels on a core type that it does not recognize.
		if right := core(); peer == "openblas" && right != "" && s.about.Core != right {
			if s, err = add("openblas "+right, argv, "OPENBLAS_CORETYPE="+right); err != nil {
				return err
			}
			fmt.Fprintf(b.Log, "%s: %s\n", s.name, s.about.Core)
		}
	}
	return nil
}

// core returns the name of OpenBLAS's best kernels for float32 on this processor; "" if it is
// unknown.
func core() string {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return "SkylakeX"
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return "Haswell"
	}
	return ""
}
