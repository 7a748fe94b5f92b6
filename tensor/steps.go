package tensor

import "halfnote/tensor/driver"

// Steps collects the steps of an optimizer on its parameters, to do them in one pass
// over all that they change. The zero value has none. It is not safe for use by several
// goroutines at once. It is the arguments foreach and fused of torch's optimizers.
type Steps struct {
	backend driver.Backend
	list    []driver.Launch
	touched map[*storage]bool // by those of list; true: changed
}

// Run does the steps that were added since the last Run.
func (s *Steps) Run() {
	list := s.list
	s.list, s.touched = nil, nil
	if b, ok := s.backend.(driver.Batcher); ok {
		b.RunAll(list)
		return
	}
	for _, l := range list {
		s.backend.Run(l.Kernel, l.Dst, l.Src...)
	}
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
// in. While there are some it runs at once.
func (s *Steps) add(info Info, in []*Tensor, k driver.Kernel, dst *Tensor, src ...*Tensor) {
	if observers.load() != nil {
		dst.reported(info, in, func() { run(k, dst, src...) })
		return
	}
	views := make([]driver.View, len(src))
	for i, t := range src {
		views[i] = t.view()
	}
	s.list = append(s.list, driver.Launch{Kernel: k, Dst: dst.view(), Src: views})
}
