package dist

import "halfnote/tensor"

// whole is the parameters of an FSDPModule for one Forward and its Backward. Between them its memory may be released.
type whole struct {
	f        *FSDPModule
	flat     *tensor.Tensor // vector of all parameters, on the tape
	params   []*tensor.Tensor
	released bool
}

// gather returns the whole parameters, which depend on the shards.
func (f *FSDPModule) gather() *whole {
	w := &whole{f: f}
	w.flat = tensor.Function{
		Name:     "all_gather",
		Forward:  func(*tensor.Context, []*tensor.Tensor) *tensor.Tensor { return f.all() },
		Backward: func(_ *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor { return w.backward(dy) },
	}.Apply(f.locals()...)
	for _, s := range f.params {
		w.params = append(w.params, w.flat.Narrow(0, s.at, size(s.shape)).Reshape(s.shape...))
	}
	return w
}

func size(shape []int) int {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return n
}

// all returns the vector of all parameters in the policy's dtype.
func (f *FSDPModule) all() *tensor.Tensor {
	d := f.params[0].local.DType()
	if f.policy.ParamDType != 0 {
		d = f.policy.ParamDType
	}
	return f.gathered(d, f.locals())
}

// gathered returns the vector of the ranks' parts of each parameter, as d. A nil part is zero.
func (f *FSDPModule) gathered(d tensor.DType, parts []*tensor.Tensor) *tensor.Tensor {
	device := f.params[0].local.Device()
	own := tensor.ZerosAs(d, f.segment).ToDevice(device)
	for i, s := range f.params {
		if parts[i] != nil {
			f.inSegment(own, s).Assign(parts[i].Detach())
		}
	}
	all := tensor.ZerosAs(d, f.g.size*f.segment).ToDevice(device)
	f.wait(f.g.AllGather(all, own))
	return all
}

// wait waits for a collective of this module.
func (f *FSDPModule) wait(work *Work) {
	work.event.Module = f.params[0].name
	work.Wait()
}

// release gives back the memory of the whole parameters.
func (w *whole) release() {
	if !w.released {
		w.released = true
		memory.Withdraw(w.flat)
	}
}

// restore gathers the whole parameters again, unless they are there.
func (w *whole) restore() {
	if w.released {
		tensor.NoGrad(func() { tensor.Unobserved(func() { memory.Lend(w.flat, w.f.all()) }) })
		w.released = false
	}
}

// backward averages the gradient of the whole parameters over the ranks and returns the parts of this rank.
func (w *whole) backward(dy *tensor.Tensor) []*tensor.Tensor {
	f := w.f
	if tensor.IsGradEnabled() {
		f.g.refuse("Backward", "leave out CreateGraph, or do not shard the module", "gradients of sharded parameters cannot be differentiated again")
	}
	w.release()
	f.put(f.locals())
	d := dy.DType()
	if f.policy.ReduceDType != 0 {
		d = f.policy.ReduceDType
	}
	out := make([]*tensor.Tensor, len(f.params))
	tensor.Unobserved(func() {
		in := dy.To(d).MulScalar(1 / float64(f.g.size))
		own := tensor.ZerosAs(d, f.segment).ToDevice(dy.Device())
		f.wait(f.g.ReduceScatter(own, in, Sum))
		for i, s := range f.params {
			out[i] = f.inSegment(own, s).To(s.local.DType())
		}
	})
	return out
}
