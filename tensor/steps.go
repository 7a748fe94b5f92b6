package tensor

import (
	"time"

	"halfnote/tensor/driver"
)

// Steps collects the steps of an optimizer on its parameters, to do them in one pass
// over all that they change. The zero value has none. It is not safe for use by several
// goroutines at once. It is the arguments foreach and fused of torch's optimizers.
type Steps struct {
	backend driver.Backend
	list    []driver.Launch
	told    []told            // the same, for observers; empty without
	touched map[*storage]bool // by those of list; true: changed
}

// told is what observers are told of a kernel: that dst, the first of in, is changed.
type told struct {
	info Info
	in   []*Tensor
}

// Run does the steps that were added since the last Run. Observers are told of each when
// all are done, with its share of the time by the bytes that it reads and writes.
func (s *Steps) Run() {
	list, told := s.list, s.told
	s.list, s.told, s.touched = nil, nil, nil
	start := time.Since(began)
	if b, ok := s.backend.(driver.Batcher); ok {
		b.RunAll(list)
	} else {
		for _, l := range list {
			s.backend.Run(l.Kernel, l.Dst, l.Src...)
		}
	}
	if len(told) > 0 {
		s.backend.Synchronize()
		tell(told, start, time.Since(began)-start)
	}
}

// tell tells observers of steps that have been done.
func tell(steps []told, start, spent time.Duration) {
	seen, s := observers.load(), current()
	if seen == nil || s.hidden {
		return
	}
	all := 0
	for _, x := range steps {
		all += traffic(x.in)
	}
	for _, x := range steps {
		e := begin(change{x.info}, &s, x.in)
		e.InPlace, e.start, e.Start = true, start, began.Add(start)
		e.Duration = time.Duration(float64(spent) * float64(traffic(x.in)) / float64(max(all, 1)))
		e.finish(seen, x.in, x.in[0])
		e.end()
	}
}

// traffic is how many bytes a change of the first of ts reads and writes.
func traffic(ts []*Tensor) int {
	n := ts[0].Bytes()
	for _, t := range ts {
		n += t.Bytes()
	}
	return n
}

// touch has what was added run first if it is not independent of a step that changes
// some tensors and reads another.
func (s *Steps) touch(changed []*Tensor, read *Tensor) {
	_, known := s.touched[changed[0].mem]
	for _, t := range changed[1:] {
		_, also := s.touched[t.mem]
		known = known || also
	}
	if known || s.touched[read.mem] || s.backend != changed[0].mem.backend {
		s.Run()
	}
	if s.touched == nil {
		s.touched = map[*storage]bool{}
	}
	s.backend = changed[0].mem.backend
	s.touched[read.mem] = false
	for _, t := range changed {
		s.touched[t.mem] = true
	}
}

// add adds a kernel, which observers are told of as of a change of dst that has operands
// in, itself first.
func (s *Steps) add(info Info, in []*Tensor, k driver.Kernel, dst *Tensor, src ...*Tensor) {
	if observers.load() != nil {
		s.told = append(s.told, told{info, in})
	}
	views := make([]driver.View, len(src), len(src)+1)
	for i, t := range src {
		views[i] = t.view()
	}
	if c := dst.shadowed(k.Code, src); c != nil {
		views = append(views, c.view())
	}
	s.list = append(s.list, driver.Launch{Kernel: k, Dst: dst.view(), Src: views})
}
