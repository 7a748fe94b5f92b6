package data_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/driver"
)

// squares is a user's data set: i and i², with an error at one sample.
type squares struct {
	n    int
	at   int // index of the sample with the error
	fail func()
	got  atomic.Int64
}

var errLost = errors.New("the file is lost")

func (s *squares) Len() int { return s.n }

func (s *squares) Get(i int) ([]*tensor.Tensor, error) {
	s.got.Add(1)
	if i == s.at {
		if s.fail == nil {
			return nil, errLost
		}
		s.fail()
	}
	return []*tensor.Tensor{tensor.FromInts([]int{i}), tensor.Scalar(float64(i * i))}, nil
}

func TestWorkersGiveEveryBatchInOrder(t *testing.T) {
	for workers := range 5 {
		for _, ahead := range []int{0, 1, 7} {
			l := data.NewLoader(&squares{n: 11, at: -1}, 3, data.Workers(workers), data.Prefetch(ahead))
			var got []int
			for e := l.Epoch(); e.Next(); {
				b := e.Batch()
				if len(b.Fields) != 2 || b.Fields[0] != b.Input || b.Fields[1] != b.Target {
					t.Fatalf("fields of a batch: got %v", b.Fields)
				}
				got = append(got, b.Input.Ints()...)
				for i, x := range b.Input.Ints() {
					if b.Target.At(i) != float64(x*x) {
						t.Errorf("target of %d: got %v", x, b.Target.At(i))
					}
				}
			}
			if !slices.Equal(got, seq(11)) {
				t.Errorf("%d workers, %d ahead: got the samples %v", workers, ahead, got)
			}
		}
	}
}

// TestPrefetch checks that workers prepare exactly as many batches ahead of the loop as Prefetch allows.
func TestPrefetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := &squares{n: 100, at: -1}
		e := data.NewLoader(set, 1, data.Workers(3), data.Prefetch(4)).Epoch()
		e.Next()
		synctest.Wait() // wait until every worker is blocked
		if n := set.got.Load(); n != 5 {
			t.Errorf("got %d samples after one batch, want 5: one used and 4 ahead", n)
		}
		for e.Next() { // lets the workers end
		}
	})
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("timed out waiting for " + what)
}

// TestBreakOutOfLoop checks that an abandoned Epoch leaks no goroutines.
func TestBreakOutOfLoop(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		e := data.NewLoader(&squares{n: 50, at: -1}, 2, data.Workers(4)).Epoch()
		e.Next()
		e.Next()
	}
	wait(t, "workers to end", func() bool { return runtime.NumGoroutine() <= before })
}

// loop runs a whole epoch and returns its panic value.
func loop(l *data.Loader) (p any) {
	defer func() { p = recover() }()
	for e := l.Epoch(); e.Next(); {
	}
	return nil
}

func TestSampleErrors(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		p := loop(data.NewLoader(&squares{n: 20, at: 7}, 3, data.Workers(workers)))
		e, ok := p.(*data.SampleError)
		if !ok || e.Index != 7 || e.Batch != 2 || !errors.Is(e, errLost) {
			t.Errorf("%d workers: got the panic %v, want a SampleError for sample 7", workers, p)
		}
		if want := "data: loader: sample 7, in batch 2: the file is lost"; fmt.Sprint(p) != want {
			t.Errorf("%d workers: got %v, want %s", workers, p, want)
		}
	}
	for name, c := range map[string]struct {
		fail func()
		want string
	}{
		"a value":  {func() { panic("no") }, "sample 7, in batch 2: panic: no"},
		"an error": {func() { tensor.Zeros(2).Reshape(3) }, "sample 7, in batch 2: tensor: reshape"},
		"an exit":  {func() { runtime.Goexit() }, "sample 7, in batch 2: the worker has ended"},
	} {
		for _, workers := range []int{1, 3} {
			p := loop(data.NewLoader(&squares{n: 20, at: 7, fail: c.fail}, 3, data.Workers(workers)))
			if !strings.Contains(fmt.Sprint(p), c.want) {
				t.Errorf("%s, %d workers: got the panic %v, want %s", name, workers, p, c.want)
			}
		}
	}
	// Without workers a panic of the data set propagates unchanged.
	if p := loop(data.NewLoader(&squares{n: 20, at: 7, fail: func() { panic("no") }}, 3)); p != "no" {
		t.Errorf("without workers: got the panic %v, want no", p)
	}
}

// ragged is a data set of samples with different lengths.
type ragged int

func (r ragged) Len() int { return int(r) }
func (r ragged) Get(i int) ([]*tensor.Tensor, error) {
	return []*tensor.Tensor{tensor.Ones(i + 1), tensor.Ones(1)}, nil
}

// oneEmpty is a batch sampler with a batch without samples.
type oneEmpty struct{}

func (oneEmpty) Len() int         { return 2 }
func (oneEmpty) Batches() [][]int { return [][]int{{1, 0}, {}} }

func TestCollate(t *testing.T) {
	p := loop(data.NewLoader(ragged(4), 2, data.Workers(1)))
	if want := "data: loader: batch 0: tensor: collate: shapes (1,) and (2,): dtypes float32 and float32: samples 0 and 1 of the batch differ; want equal shapes and dtypes, or a loader with WithCollate"; fmt.Sprint(p) != want {
		t.Errorf("got %v, want %s", p, want)
	}
	p = loop(data.NewLoader(&squares{n: 2, at: -1}, 1, data.WithBatchSampler(oneEmpty{}), data.Workers(1)))
	if want := "batch 1: tensor: collate: the batch is empty; want at least one sample"; !strings.Contains(fmt.Sprint(p), want) {
		t.Errorf("got %v, want %s", p, want)
	}
	sum := func(samples [][]*tensor.Tensor) []*tensor.Tensor {
		out := tensor.Scalar(0)
		for _, s := range samples {
			out = out.Add(s[0].Sum())
		}
		return []*tensor.Tensor{out}
	}
	var got []float64
	for _, b := range data.NewLoader(ragged(5), 2, data.WithCollate(sum), data.Workers(2)).Batches() {
		if b.Target != nil {
			t.Error("a sample of one field has a target, want nil")
		}
		got = append(got, b.Input.Item())
	}
	if want := []float64{3, 7, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestInterrupt checks that a kernel's interrupt ends a loop that waits for its workers.
func TestInterrupt(t *testing.T) {
	type interrupted struct{}
	release := make(chan bool)
	defer close(release)
	slow := &squares{n: 4, at: 0, fail: func() { <-release }}
	var stop atomic.Bool
	driver.SetHost(driver.Host{Poll: func() {
		if stop.Load() {
			panic(interrupted{})
		}
	}})
	defer driver.SetHost(driver.Host{})
	time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
	if p := loop(data.NewLoader(slow, 1, data.Workers(2))); p != any(interrupted{}) {
		t.Errorf("got the panic %v", p)
	}
}

type bar struct{ done, ends int }

func (b *bar) Add(n int) { b.done += n }
func (b *bar) Finish()   { b.ends++ }

func TestProgress(t *testing.T) {
	b := &bar{}
	l := data.NewLoader(&squares{n: 7, at: -1}, 2)
	for e := l.Epoch().Show(b); e.Next(); {
		if b.done+1 > e.Len() {
			t.Errorf("Progress: got %d batches done during an epoch of %d", b.done, e.Len())
		}
	}
	if b.done != 4 || b.ends != 1 {
		t.Errorf("got %d batches done and %d ends, want 4 and 1", b.done, b.ends)
	}
	b = &bar{}
	func() {
		defer func() { recover() }()
		for e := data.NewLoader(&squares{n: 7, at: 3}, 2).Epoch().Show(b); e.Next(); {
		}
	}()
	if b.done != 1 || b.ends != 1 {
		t.Errorf("with an error: got %d batches done and %d ends, want 1 and 1", b.done, b.ends)
	}
}

// TestSeek checks that a batch is the same each time Seek goes back to it, in an epoch with
// random transforms, with and without workers.
func TestSeek(t *testing.T) {
	for _, workers := range []int{0, 3} {
		set := data.NewTensorDataset(tensor.Arange(0, 40).Reshape(20, 2), tensor.Arange(0, 20))
		noise := func(x *tensor.Tensor, g *tensor.Generator) *tensor.Tensor { return x.Add(g.Randn(2)) }
		loader := data.NewLoader(set, 3, data.Shuffle(4), data.Workers(workers), data.WithTransforms(noise))
		e := loader.Epoch()
		var want []string
		for e.Next() {
			want = append(want, fmt.Sprint(e.Batch().Input.Bits(), e.Batch().Target.Bits()))
			if e.Position() != len(want) {
				t.Errorf("got position %d after %d batches", e.Position(), len(want))
			}
		}
		if e.Position() != 7 || len(want) != 7 {
			t.Fatalf("got position %d after %d batches, want 7", e.Position(), len(want))
		}
		for _, at := range []int{5, 0, 6, 2, 7} {
			e.Seek(at)
			n := at
			for ; n < at+2 && e.Next(); n++ {
				if got := fmt.Sprint(e.Batch().Input.Bits(), e.Batch().Target.Bits()); got != want[n] {
					t.Errorf("%d workers: batch %d after Seek(%d): got %s, want %s", workers, n, at, got, want[n])
				}
			}
			if n != min(at+2, 7) {
				t.Errorf("%d workers: the epoch ended at batch %d after Seek(%d)", workers, n, at)
			}
		}
		if err := tensor.Try(func() { e.Seek(8) }); err == nil || err.Error() != "tensor: seek: to batch 8 in an epoch of 7 batches; want 0 to 7" {
			t.Errorf("got error %v", err)
		}
	}
}
