package trace

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// SummaryWriter writes an event file for TensorBoard. Its methods may be called from any goroutine.
// An error of the file system ends the file; Flush and Close return it.
type SummaryWriter struct {
	mu      sync.Mutex
	file    *os.File
	w       *bufio.Writer
	flushed time.Time
	tags    map[string]bool // scalars that the program added
	err     error
}

// flushEvery is the longest time that events wait in memory while more are added.
const flushEvery = 2 * time.Second

var writers atomic.Int64

// TensorBoard creates dir, if needed, and in it a new event file. TensorBoard reads it with
// "tensorboard --logdir dir"; each subfolder of a folder is one run in its charts. The file needs
// [SummaryWriter.Close]. It is torch.utils.tensorboard.SummaryWriter.
func TensorBoard(dir string) (*SummaryWriter, error) {
	if dir == "" {
		return nil, errors.New(`trace: tensorboard: the folder is ""; want a path such as "runs/fp16"`)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("trace: tensorboard: %w", err)
	}
	host, err := os.Hostname()
	if err != nil || strings.ContainsAny(host, `/\`) {
		host = "localhost"
	}
	now := time.Now()
	name := fmt.Sprintf("events.out.tfevents.%d.%s.%d.%d", now.Unix(), host, os.Getpid(), writers.Add(1))
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("trace: tensorboard: %w", err)
	}
	s := &SummaryWriter{file: f, w: bufio.NewWriter(f)}
	s.write(event{wall: now, version: eventVersion})
	return s, s.Flush()
}

// write appends an event to the file.
func (s *SummaryWriter) write(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	if s.file == nil {
		s.err = errors.New("trace: tensorboard: the writer is closed; TensorBoard makes a new one")
		return
	}
	if _, s.err = s.w.Write(framed(e.encode())); s.err == nil && time.Since(s.flushed) > flushEvery {
		s.flush()
	}
}

func (s *SummaryWriter) flush() error {
	if err := s.w.Flush(); s.err == nil {
		s.err = err
	}
	s.flushed = time.Now()
	return s.err
}

// AddScalar adds a number of one step, for example "loss". It is
// torch.utils.tensorboard.SummaryWriter.add_scalar.
func (s *SummaryWriter) AddScalar(tag string, value float64, step int) {
	s.mu.Lock()
	if s.tags == nil {
		s.tags = map[string]bool{}
	}
	s.tags[tag] = true
	s.mu.Unlock()
	s.scalar(time.Now(), tag, value, step)
}

func (s *SummaryWriter) scalar(at time.Time, tag string, value float64, step int) {
	v := float32(value)
	s.write(event{wall: at, step: step, tag: tag, scalar: &v})
}

// AddHistogram adds the distribution of a tensor's elements at one step. inf and NaN are left out.
// It is torch.utils.tensorboard.SummaryWriter.add_histogram with bins="tensorflow".
func (s *SummaryWriter) AddHistogram(tag string, values *tensor.Tensor, step int) {
	if values == nil {
		panic(errors.New("trace: add_histogram: values is nil; want a tensor"))
	}
	s.write(event{wall: time.Now(), step: step, tag: tag, histogram: newHistogram(values.Float64s())})
}

// AddGradients adds, for each parameter of model that has a gradient, the distribution of the
// gradient as "grad/<parameter>" and the fraction that is inf or NaN as "grad_bad/<parameter>".
// Under a GradScaler, call it after Unscale: before, the gradients are scaled.
func (s *SummaryWriter) AddGradients(model any, step int) {
	for _, p := range nn.NamedParameters(model) {
		g := p.Tensor.Grad()
		if g == nil {
			continue
		}
		s.AddHistogram("grad/"+p.Name, g, step)
		c := g.Counts()
		s.AddScalar("grad_bad/"+p.Name, share(c.Infs+c.NaNs, c.Count), step)
	}
}

// AddRecording adds numbers of the steps of a recording: "amp/loss_scale", "amp/skipped" (1 for a
// skipped step), "amp/steps_per_second", "amp/flushed_share" and "amp/bad_share", the fractions of
// elements that rounding turned into zero and that are inf or NaN. It also adds "loss", which the recording finds as
// [Recorder.Dashboard] does, and the quantities given to [Recorder.Log], except those that AddScalar has added. Of a
// long recording it adds values of every few steps.
func (s *SummaryWriter) AddRecording(r *Recorder) {
	if r == nil {
		panic(errors.New("trace: add_recording: the recording is nil; want the result of trace.Start"))
	}
	defer r.read()()
	sums := &r.sums
	at := func(column int) time.Time { // end of a column
		if column+1 < len(sums.starts) {
			return r.begun.Add(sums.starts[column+1])
		}
		return r.begun.Add(sums.end)
	}
	for i, t := range sums.steps {
		step, end := r.first+i*sums.stride, at(i)
		n := min(sums.stride, sums.last-i*sums.stride)
		if d := end.Sub(r.begun.Add(sums.starts[i])); d > 0 {
			s.scalar(end, "amp/steps_per_second", float64(n)/d.Seconds(), step)
		}
		if t.Rounded > 0 {
			s.scalar(end, "amp/flushed_share", t.FlushedShare(), step)
		}
		if t.Elements > 0 {
			s.scalar(end, "amp/bad_share", t.BadShare(), step)
		}
	}
	known := func(tag string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.tags[tag]
	}
	for _, p := range r.history.quantities() {
		if known(p.Name) {
			continue
		}
		for i, step := range p.X {
			s.scalar(r.history.ended(int(step)), p.Name, p.Values[i], int(step))
		}
	}
	for _, step := range r.steps {
		end := r.begun
		if len(sums.steps) > 0 {
			end = at(min((step.Of-r.first)/sums.stride, len(sums.steps)-1))
		}
		s.scalar(end, "amp/loss_scale", step.Scale, step.Of)
		skipped := 0.
		if step.Skipped {
			skipped = 1
		}
		s.scalar(end, "amp/skipped", skipped, step.Of)
	}
}

// Flush writes all events to the file and returns the first error since TensorBoard.
func (s *SummaryWriter) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.err
	}
	return s.flush()
}

// Close writes all events and closes the file. It returns the first error since TensorBoard.
// Closing again does nothing.
func (s *SummaryWriter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.err
	}
	s.flush()
	err := s.file.Close()
	s.file = nil
	if s.err == nil {
		s.err = err
	}
	return s.err
}

// bucketLimits are the upper limits of TensorFlow's default histogram: ±1e-12·1.1ⁿ up to 1e20 and
// the largest float64.
var bucketLimits = sync.OnceValue(func() []float64 {
	var up []float64
	for v := 1e-12; v < 1e20; v *= 1.1 {
		up = append(up, v)
	}
	up = append(up, math.MaxFloat64)
	limits := make([]float64, 0, 2*len(up)+1)
	for i := len(up) - 1; i >= 0; i-- {
		limits = append(limits, -up[i])
	}
	limits = append(limits, 0)
	return append(limits, up...)
})
