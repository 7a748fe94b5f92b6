package tensor

import "halfnote/tensor/driver"

// classesOnTensor are [classes] that have not been copied to the host.
type classesOnTensor struct {
	index   *Tensor // class of each target, int64; 0 for ignored targets
	counted *Tensor // mask of the targets that are not ignored, bool
	weight  *Tensor // weight of each target in the dtype of the arithmetic; 0 for ignored targets
	total   *Tensor // sum of the weights, a scalar
}

// unread reports whether to use the targets of t without reading them, because a graph is
// being captured and its replays will have other targets.
func (t *Tensor) unread(target *Tensor) bool {
	return capturing() && target.Device() != CPU && target.Device() == t.Device() && target.nearest() == target
}

// classesOnDevice is classesOf without reading the targets. Targets that are not classes are
// ignored.
func classesOnDevice(op string, x, target *Tensor, o lossOptions) (c classesOnTensor) {
	ignore, n := checkClasses(op, x, target, o), x.shape[1]
	Unobserved(func() {
		target := convert(target.Detach(), Int64)
		c.counted = target.GeScalar(0).And(target.LtScalar(float64(n)))
		for _, class := range ignore {
			if class >= 0 && class < n {
				c.counted = c.counted.And(target.NeScalar(float64(class)))
			}
		}
		zero := constant(target, Int64, 0)
		c.index = c.counted.Where(target, zero)
		c.weight = convert(c.counted, wideOf(x.dtype))
		if o.Weight != nil {
			weight := convert(o.Weight.Detach().ToDevice(x.Device()), wideOf(x.dtype))
			each := unsetTensor(x.mem.backend, weight.dtype, []int{target.Numel()})
			run(driver.Kernel{Code: driver.Gather}, each, weight, c.index.Reshape(-1))
			c.weight = c.weight.Mul(each.Reshape(target.shape...))
		}
		c.total = c.weight.Sum()
	})
	return c
}
