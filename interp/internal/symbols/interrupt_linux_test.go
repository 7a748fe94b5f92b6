package symbols

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"halfnote/amp"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

const (
	// A call is interrupted at the first poll after soon that finds [pollRecord.often] true.
	soon = 20 * time.Millisecond
	// A call that computes for less than minor need not poll: 25 times what any function
	// of TestLargeCallsPoll needs on a usual machine without proving that it polls often.
	minor = 500 * time.Millisecond
)

// pollRecord holds measurements of a call's polls. Times are processor time of its thread,
// so that other processes do not matter.
type pollRecord struct {
	polls      int
	spent, gap time.Duration // time of the call, and the longest time between two polls
	stopped    bool          // whether an interrupt ended the call
}

// often reports whether the call polls often: 16 times or more, and never computes for
// half of its time without a poll. It is a share, because a slow machine takes longer
// for both.
func (r pollRecord) often() bool { return r.polls >= 16 && 2*r.gap <= r.spent }

func (r pollRecord) String() string {
	return fmt.Sprintf("%d polls, and %.0f%% of its %v of processor time without a poll", r.polls, 100*float64(r.gap)/float64(r.spent), r.spent)
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// interrupted runs body on this thread, and interrupts it once its record shows that it polls
// often.
func interrupted(body func()) (r pollRecord, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := goroutine()
	start := threadTime()
	last := start
	look := func() {
		now := threadTime()
		r.gap = max(r.gap, now-last)
		r.spent = now - start
		last = now
	}
	driver.SetHost(driver.Host{Poll: func() {
		if goroutine() == own {
			r.polls++
			if look(); r.spent > soon && r.often() {
				panic(stopped{})
			}
		}
	}})
	defer driver.SetHost(driver.Host{})
	defer func() {
		look()
		if p := recover(); p != nil {
			if err, _ = p.(error); errors.Is(err, stopped{}) {
				r.stopped, err = true, nil
			} else if err == nil {
				err = errors.New(fmt.Sprint(p))
			}
		}
	}()
	body()
	return
}

// TestHeavyCallsStop checks that operations that take seconds stop soon after an interrupt. A
// default run calls a share of them.
func TestHeavyCallsStop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // more threads would divide the work
	square := tensor.Randn(1400, 1400)
	definite := square.MatMul(square.T()).Add(tensor.Eye(1400))
	long := tensor.Rand(1 << 23)
	whole := tensor.Randint(0, 1<<20, 1<<23)
	rows := tensor.Randn(1<<16, 64)
	images := tensor.Randn(16, 32, 96, 96)
	file := filepath.Join(t.TempDir(), "large.safetensors")
	if err := data.SaveSafetensors(file, map[string]*tensor.Tensor{"x": tensor.Zeros(1 << 26)}, nil); err != nil {
		t.Fatal(err)
	}
	npy := filepath.Join(t.TempDir(), "large.npy")
	if err := data.SaveNPY(npy, tensor.Zeros(1<<26)); err != nil {
		t.Fatal(err)
	}
	texts := strings.Fields(strings.Repeat("a text of some words ", 1<<16))
	calls := map[string]func(){
		"Solve":        func() { square.Solve(square) },
		"SolveVector":  func() { square.Solve(tensor.Ones(1400)) },
		"Inverse":      func() { square.Inverse() },
		"Det":          func() { square.Det() },
		"Cholesky":     func() { definite.Cholesky() },
		"SVD":          func() { square.SVD() },
		"SVDVals":      func() { square.T().SVDVals() },
		"MatrixPower":  func() { square.MatrixPower(1000) },
		"MatMul":       func() { tensor.Ones(4096, 4096).MatMul(tensor.Ones(4096, 4096)) },
		"PDist":        func() { rows.Slice(0, 0, 4000).PDist(2) },
		"CDist":        func() { rows.Slice(0, 0, 2000).CDist(rows.Slice(0, 0, 2000), 2) },
		"Sort":         func() { long.Sort(0) },
		"Argsort":      func() { long.Argsort(0) },
		"TopK":         func() { long.TopK(1000, 0) },
		"Unique":       func() { whole.Unique() },
		"Mode":         func() { whole.Mode(0) },
		"Median":       func() { long.Median(0) },
		"Quantile":     func() { long.Quantile(0.5, 0) },
		"KthValue":     func() { long.KthValue(1000, 0) },
		"Bincount":     func() { tensor.Zeros(1 << 25).Long().Bincount(0) },
		"Histc":        func() { tensor.Zeros(1<<25).Histc(1000, 0, 1) },
		"Multinomial":  func() { long.Slice(0, 0, 1<<16).Multinomial(1<<24, true) },
		"Searchsorted": func() { tensor.Arange(0, 1<<20).Searchsorted(tensor.Rand(1<<23), false) },
		"Linspace":     func() { tensor.Linspace(0, 1, 1<<26) },
		"Logspace":     func() { tensor.Logspace(0, 1, 1<<25, 10) },
		"Arange":       func() { tensor.Arange(0, 1<<26) },
		"Randperm":     func() { tensor.Randperm(1 << 25) },
		"Randint":      func() { tensor.Randint(0, 9, 1<<26) },
		"Randn":        func() { tensor.Randn(1 << 26) },
		"Bernoulli":    func() { tensor.Bernoulli(0.5, 1<<28) },
		"Exponential":  func() { tensor.DefaultGenerator().Exponential(1, 1<<25) },
		"Ints":         func() { tensor.Zeros(1).Expand(1 << 26).Ints() },
		"Floats":       func() { tensor.Zeros(1).Expand(1 << 26).Float64s() },
		"Stats":        func() { tensor.Zeros(1 << 26).Stats() },
		"HTML":         func() { _ = tensor.Zeros(1 << 26).HTML() },
		"AllClose":     func() { tensor.AllClose(tensor.Zeros(1).Expand(1<<25), tensor.Zeros(1).Expand(1<<25), 0, 0) },
		"Nonzero":      func() { tensor.Ones(1 << 25).Nonzero() },
		"IndexPut":     func() { tensor.Zeros(1<<24).IndexPut(tensor.Scalar(1), tensor.R(0, 1<<23)) },
		"Repeat":       func() { tensor.Ones(1, 2).RepeatInterleaveEach(tensor.FromInts([]int{1 << 25}), 0) },
		"Unbind":       func() { tensor.Ones(1 << 22).Unbind(0) },
		"Split":        func() { tensor.Ones(1<<22).Split(1, 0) },
		"Diff":         func() { tensor.Ones(1<<24).Diff(1000, 0) },
		"CrossEntropy": func() {
			nn.CrossEntropy(rows.Expand(1<<16, 64), tensor.Zeros(1<<16).Long().Add(tensor.Scalar(0).Long()))
			nn.CrossEntropy(tensor.Zeros(1<<22, 2), tensor.Zeros(1<<22).Long())
		},
		"MultiMargin": func() { nn.MultiMarginLoss(tensor.Zeros(1<<20, 16), tensor.Zeros(1<<20).Long(), nn.Margin(1)) },
		"Conv2d":      func() { tensor.Conv2d(images, tensor.Randn(128, 32, 5, 5), nil, tensor.ConvOptions{}) },
		"Interpolate": func() { images.Interpolate(tensor.InterpolateOptions{ScaleFactor: []float64{4}, Mode: "bicubic"}) },
		"Attention": func() {
			x := tensor.Randn(4, 4096, 64)
			nn.ScaledDotProductAttention(x, x, x)
		},
		"Backward": func() {
			x := tensor.Randn(2048, 2048).RequireGrad()
			for range 4 {
				x.MatMul(x).MatMul(x).Sum().Backward()
			}
		},
		"Orthogonal":  func() { nn.InitOrthogonal(tensor.Zeros(1000, 1000), 1) },
		"Sparse":      func() { nn.InitSparse(tensor.Zeros(1<<12, 1<<12), 0.5, 1) },
		"TruncNormal": func() { nn.InitTruncNormal(tensor.Zeros(1<<24), 0, 1, -0.1, 0.1) },
		"Mask":        func() { nn.SquareSubsequentMask(1 << 13); nn.SquareSubsequentMask(1 << 14) },
		"AdamW": func() {
			p := tensor.Zeros(1 << 22).RequireGrad()
			p.SetGrad(tensor.Ones(1 << 22))
			o := optim.NewAdamW([]*tensor.Tensor{p}, 0.1)
			for range 100 {
				o.Step()
			}
		},
		"RandomBatches": func() { data.RandomBatches(1<<20, 8, 64, 64) },
		"CIFAR":         func() { data.SyntheticCIFAR(20000, 1) },
		"Tweets":        func() { data.SyntheticTweets(1<<20, 1) },
		"Vocabulary":    func() { data.Vocabulary(texts, 100) },
		"LoadSafetensors": func() {
			for range 8 {
				data.LoadSafetensors(file)
			}
		},
		"LoadNPY": func() {
			for range 8 {
				data.LoadNPY(npy)
			}
		},
		"Save": func() {
			for range 4 {
				data.SaveSafetensors(file+"2", map[string]*tensor.Tensor{"x": tensor.Zeros(1).Expand(1 << 26)}, nil)
			}
		},
		"Simulate": func() { amp.Simulate(1<<21, func(int, float64) bool { return false }) },
	}
	share := testenv.Share(t, 16)
	for i, name := range slices.Sorted(maps.Keys(calls)) {
		if i%share != 0 {
			continue
		}
		call := calls[name]
		r, err := interrupted(call)
		for try := 1; try < 3 && err == nil && !r.stopped; try++ { // the system may have paused a thread
			r, err = interrupted(call)
		}
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !r.stopped:
			t.Errorf("%s ended after %v; want at least 16 polls, at most 50%%, and more than %v", name, r, soon)
		}
	}
}

// TestLargeCallsPoll checks that every function that takes tensors polls while it computes
// with large ones. A default run calls a share of the functions.
func TestLargeCallsPoll(t *testing.T) {
	list := slices.DeleteFunc(callees(), func(c callee) bool {
		pkg := strings.TrimPrefix(c.name, "(*")
		return !strings.HasPrefix(pkg, "tensor.") && !strings.HasPrefix(pkg, "tensor/nn.") && !strings.HasPrefix(pkg, "nn.") || strings.Contains(c.name, "Observe")
	})
	p := newGenerator(list, func(f reflect.Value, in []reflect.Value) (out []reflect.Value, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = errors.New(fmt.Sprint(r))
			}
		}()
		if f.Type().IsVariadic() {
			return f.CallSlice(in), nil
		}
		return f.Call(in), nil
	})
	called, stops := 0, 0
	share := testenv.Share(t, walkShare)
	for i, c := range list {
		if i%share != 0 {
			continue
		}
		usual, ok := p.plausible(c.fn.Type())
		if !ok {
			continue
		}
		args, ok := large(p.taken(c, usual), c.fn.Type())
		if !ok {
			continue
		}
		called++
		r, _ := interrupted(func() { p.call2(c.fn, args) })
		if r.stopped {
			stops++
		}
		if r.spent > minor && !r.often() {
			t.Errorf("%s has %v; want at least 16 polls, and at most 50%%", c.name, r)
		}
		casting.CloseScopes()
	}
	t.Logf("%d functions called with large tensors, %d of them interrupted", called, stops)
	if called < 300/share {
		t.Errorf("%d functions were called with large tensors; want at least %d", called, 300/share)
	}
}

// call2 calls f and lets panics pass.
func (g *generator) call2(f reflect.Value, in []reflect.Value) {
	if f.Type().IsVariadic() {
		f.CallSlice(in)
		return
	}
	f.Call(in)
}

// large returns the arguments of in with tensors of about a million elements each: all
// sizes grow by one factor, so that fitting shapes still fit. ok is false if there is
// no tensor.
func large(in []maker, f reflect.Type) (args []reflect.Value, ok bool) {
	args, _, built := makeAll(in)
	rank := 0
	for i := range args {
		if x, is := args[i].Interface().(*tensor.Tensor); is && f.In(i) == tensorType && x != nil {
			rank = max(rank, x.Dim())
		}
	}
	if !built || rank == 0 {
		return nil, false
	}
	side := int(math.Pow(1<<20, 1/float64(rank))) / 2 * 2
	for i := range args {
		if x, is := args[i].Interface().(*tensor.Tensor); is && f.In(i) == tensorType && x != nil {
			args[i] = reflect.ValueOf(grown(x, side))
		}
	}
	return args, true
}

// grown returns x repeated to sizes of side where they are 2, and proportionally
// elsewhere.
func grown(x *tensor.Tensor, side int) *tensor.Tensor {
	times := make([]int, x.Dim())
	for d, n := range x.Shape() {
		times[d] = max(side/2, 1)
		if n < 2 {
			times[d] = 1
		}
	}
	if len(times) == 0 {
		return x
	}
	return x.Repeat(times...)
}
