package dist

import "halfnote/tensor"

// Join runs body, a loop over batches of which ranks may have different numbers. A rank that has finished takes part in the
// reductions of the others with zeros, until all have finished; then all ranks take the parameters and buffers of the rank that
// was last. Averages are divided by the number of all ranks. A GradScaler sees the same gradients only on the ranks that
// still step, so scales may differ afterwards. It is torch.distributed.algorithms.Join.
func (d *DistributedDataParallel) Join(body func()) {
	d.joining, d.steps = true, 0
	defer func() { d.joining = false }()
	body()
	for d.announce(false) >= 0 {
		tensor.NoGrad(func() { tensor.Unobserved(d.shadow) })
	}
	last := tensor.NewAs(tensor.Int64, []float64{float64(d.steps*d.g.size + d.g.rank)})
	d.g.AllReduce(last, Max).Wait()
	src := int(last.Item()) % d.g.size
	for _, p := range d.params {
		d.g.Broadcast(p.Tensor, src).Wait()
	}
	for _, b := range d.buffers {
		d.g.Broadcast(b, src).Wait()
	}
}

// announce tells the other ranks whether this one has another batch and will reduce its gradients. It returns the highest rank
// that has a batch, -1 for none.
func (d *DistributedDataParallel) announce(active bool) int {
	x := tensor.NewAs(tensor.Int64, []float64{-1, -1})
	if active {
		x = tensor.NewAs(tensor.Int64, []float64{float64(d.g.rank), 0})
		if !d.noSync {
			x = tensor.NewAs(tensor.Int64, []float64{float64(d.g.rank), 1})
		}
		d.steps++
	}
	d.g.AllReduce(x, Max).Wait()
	src := int(x.At(0))
	d.shadowed = x.At(1) == 1
	d.shadowSrc = src
	return src
}

// shadow joins the collectives of a step in which this rank has no batch.
func (d *DistributedDataParallel) shadow() {
	before := d.noSync
	d.noSync = !d.shadowed
	defer func() { d.noSync = before }()
	d.shareBuffers(d.shadowSrc)
	if !d.shadowed {
		return
	}
	d.begin()
	for _, b := range d.buckets {
		b.flat.Zero()
		b.pending = 0
	}
	d.launch()
	for _, b := range d.buckets {
		b.work.Wait()
	}
	if d.findUnused {
		n := 0
		for _, b := range d.buckets {
			n += len(b.members)
		}
		d.g.AllReduce(tensor.Zeros(n), Max).Wait()
	}
	d.running = false
}
