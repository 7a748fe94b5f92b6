package dist

import (
	"halfnote/tensor"
)

// GradBucket is a group of gradients that travel together. It is torch.distributed.GradBucket.
type GradBucket struct {
	g       *group
	index   int
	last    bool
	name    string // first parameter
	members []inBucket
	flat    *tensor.Tensor
	pending int
	work    *Work
}

// inBucket is a parameter's place in a bucket.
type inBucket struct {
	p     *tensor.Tensor
	name  string
	at    int
	ready bool
}

// Index returns the number of the bucket; reductions start in this order.
func (b *GradBucket) Index() int { return b.index }

// IsLast reports whether this is the last bucket of the step.
func (b *GradBucket) IsLast() bool { return b.last }

// Buffer returns the gradients as one vector. A hook leaves the reduced gradients in it.
func (b *GradBucket) Buffer() *tensor.Tensor { return b.flat }

// Parameters returns the parameters of the bucket.
func (b *GradBucket) Parameters() []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(b.members))
	for i, m := range b.members {
		list[i] = m.p
	}
	return list
}

// Gradients returns the parts of Buffer in the shapes of the parameters.
func (b *GradBucket) Gradients() []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(b.members))
	for i, m := range b.members {
		list[i] = b.part(m).Reshape(m.p.Shape()...)
	}
	return list
}

// AllReduceAsync starts a reduction of t for this bucket, such as Buffer or a compressed copy of it.
func (b *GradBucket) AllReduceAsync(t *tensor.Tensor, op ReduceOp) *Work {
	w := b.g.AllReduce(t, op)
	w.event.Bucket, w.event.Module = b.index, b.name
	return w
}

func (b *GradBucket) part(m inBucket) *tensor.Tensor { return b.flat.Narrow(0, m.at, m.p.Numel()) }

// firstBucket is the size of the first bucket, torch's _DEFAULT_FIRST_BUCKET_BYTES.
const firstBucket = 1 << 20

// fill assigns the parameters to buckets, from the last, whose gradient is complete first, to the first.
func (d *DistributedDataParallel) fill() {
	var open *GradBucket
	used, limit := 0, min(firstBucket, d.bucketBytes)
	for i := len(d.params) - 1; i >= 0; i-- {
		p := d.params[i]
		fits := open != nil && used+p.Tensor.Bytes() <= limit && open.members[0].p.DType() == p.Tensor.DType() && open.members[0].p.Device() == p.Tensor.Device()
		if !fits {
			if open != nil {
				limit = d.bucketBytes
			}
			open, used = &GradBucket{g: d.g, index: len(d.buckets), name: p.Name}, 0
			d.buckets = append(d.buckets, open)
		}
		open.members = append(open.members, inBucket{p: p.Tensor, name: p.Name, at: used / p.Tensor.DType().Size()})
		used += p.Tensor.Bytes()
		b, at := open, len(open.members)-1
		gradients.OnReady(p.Tensor, func(g *tensor.Tensor, after func(func())) { d.ready(b, at, g, after) })
	}
	d.buckets[len(d.buckets)-1].last = true
}

// begin prepares the buckets for a Backward.
func (d *DistributedDataParallel) begin() {
	d.running, d.launched = true, 0
	for _, b := range d.buckets {
		b.pending, b.work = len(b.members), nil
		for i := range b.members {
			b.members[i].ready = false
		}
		n, p := 0, b.members[0].p
		for _, m := range b.members {
			n += m.p.Numel()
		}
		if b.flat == nil || b.flat.DType() != p.DType() || b.flat.Device() != p.Device() {
			b.flat = tensor.ZerosAs(p.DType(), n).ToDevice(p.Device())
		}
	}
}

// ready puts the gradient g of a parameter into its bucket, and starts the reductions of complete buckets, in order.
func (d *DistributedDataParallel) ready(b *GradBucket, i int, g *tensor.Tensor, after func(func())) {
	if d.noSync {
		return
	}
	if !d.running {
		d.begin()
		after(d.finish)
	}
	tensor.NoGrad(func() {
		tensor.Unobserved(func() { d.put(b, i, g) })
	})
	d.launch()
}

// put copies a gradient into its bucket, with what the parameter has accumulated before. Without a hook the average is divided
// here, as torch does: sums of large gradients do not overflow then.
func (d *DistributedDataParallel) put(b *GradBucket, i int, g *tensor.Tensor) {
	m := &b.members[i]
	part := b.part(*m)
	switch old := m.p.Grad(); {
	case g == nil && old == nil:
		part.Zero()
	case g == nil:
		part.Assign(old.Detach().Reshape(m.p.Numel()))
	default:
		part.Assign(g.Detach().Reshape(m.p.Numel()))
		if old != nil {
			part.AddAssign(old.Detach().Reshape(m.p.Numel()))
		}
	}
	if d.hook == nil {
		part.MulScalarAssign(1 / float64(d.g.size))
	}
	m.ready = g != nil
	b.pending--
}

// launch starts the reductions of the next buckets that are complete.
func (d *DistributedDataParallel) launch() {
	for ; d.launched < len(d.buckets) && d.buckets[d.launched].pending == 0; d.launched++ {
		b := d.buckets[d.launched]
		if d.hook == nil {
			b.work = b.AllReduceAsync(b.flat, Sum)
			continue
		}
		tensor.NoGrad(func() { tensor.Unobserved(func() { b.work = d.hook(b) }) })
		if b.work == nil {
			d.g.refuse("Backward", "return the work of b.AllReduceAsync", "the communication hook returned nil")
		}
	}
}

// finish waits for the reductions at the end of Backward and sets the gradients.
func (d *DistributedDataParallel) finish() {
	defer func() { d.running = false }()
	tensor.NoGrad(func() { tensor.Unobserved(d.collect) })
}

func (d *DistributedDataParallel) collect() {
	used := d.unused()
	for _, b := range d.buckets {
		b.work.Wait()
		for _, m := range b.members {
			switch g := m.p.Grad(); {
			case used != nil && !used[m.p]:
			case g == nil:
				m.p.SetGrad(b.part(m).Clone().Reshape(m.p.Shape()...))
			default:
				g.Assign(b.part(m).Reshape(m.p.Shape()...))
			}
		}
	}
}

// unused completes the buckets of parameters that the loss does not depend on. It returns the parameters that some rank has used; nil
// stands for all.
func (d *DistributedDataParallel) unused() map[*tensor.Tensor]bool {
	var flags []float64
	for _, b := range d.buckets {
		for i, m := range b.members {
			if m.ready {
				flags = append(flags, 1)
				continue
			}
			if !d.findUnused {
				d.g.refuse("Backward", "pass dist.FindUnusedParameters(), or let the loss depend on all parameters", "the loss does not depend on %s, so the other ranks would wait for its gradient", m.name)
			}
			flags = append(flags, 0)
			d.put(b, i, nil)
		}
	}
	d.launch()
	if !d.findUnused {
		return nil
	}
	x := tensor.New(flags)
	d.g.AllReduce(x, Max).Wait()
	used, at := map[*tensor.Tensor]bool{}, 0
	for _, b := range d.buckets {
		for _, m := range b.members {
			used[m.p] = x.At(at) != 0
			at++
		}
	}
	return used
}
