package tensor

import (
	"time"

	"halfnote/tensor/driver"
)

// stepList implements plumbing.Steps. The zero value is empty.
type stepList struct {
	backend  driver.Backend
	list     []driver.Launch
	reported []reported        // the same steps for observers; empty without observers
	touched  map[*storage]bool // memory used by the steps of list; true if changed
	params   driver.Params     // parameters of the last step, which equal ones share
}

// shared returns p, without an allocation if the last step had the same parameters.
func shared[P interface {
	comparable
	driver.Params
}](s *stepList, p P) driver.Params {
	if last, ok := s.params.(P); !ok || last != p {
		s.params = p
	}
	return s.params
}

// reported is a kernel that observers see: a change of dst, the first of in.
type reported struct {
	info Info
	in   []*Tensor
}

// Run implements plumbing.Steps.
func (s *stepList) Run() {
	list, reported := s.list, s.reported
	s.list, s.reported, s.touched = nil, nil, nil
	start := time.Since(began)
	if b, ok := s.backend.(driver.Batcher); ok {
		b.RunAll(list)
	} else {
		for _, l := range list {
			s.backend.Run(l.Kernel, l.Dst, l.Src...)
		}
	}
	if len(reported) > 0 {
		s.backend.Synchronize()
		report(reported, start, time.Since(began)-start)
	}
}

// report passes completed steps to observers.
func report(list []reported, start, spent time.Duration) {
	seen, s := observers.load(), current()
	if seen == nil || s.hidden {
		return
	}
	all := 0
	for _, x := range list {
		all += traffic(x.in)
	}
	for _, x := range list { // one after the other: only the time of all is known
		e := begin(change{x.info}, &s, x.in)
		e.InPlace, e.start, e.Start = true, start, began.Add(start)
		e.Duration = time.Duration(float64(spent) * float64(traffic(x.in)) / float64(max(all, 1)))
		start += e.Duration
		e.finish(seen, x.in, x.in[0])
		e.end()
	}
}

// traffic returns the number of bytes that a change of the first of ts reads and writes.
func traffic(ts []*Tensor) int {
	n := ts[0].Bytes()
	for _, t := range ts {
		n += t.Bytes()
	}
	return n
}

// touch runs the pending steps first if they conflict with a step that changes and reads the
// given tensors.
func (s *stepList) touch(changed []*Tensor, read *Tensor) {
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

// add adds a kernel, reported to observers as a change of dst with operands in, dst first.
func (s *stepList) add(info Info, in []*Tensor, k driver.Kernel, dst *Tensor, src ...*Tensor) {
	if observers.load() != nil {
		s.reported = append(s.reported, reported{info, in})
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
