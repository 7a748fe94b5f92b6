package tensor

import "halfnote/tensor/driver"

// classesOnTensor are [classes] that nobody on the CPU has read.
type classesOnTensor struct {
	index   *Tensor // int64, 0 where a target does not count
	counted *Tensor // bool: it does
	weight  *Tensor // of arithmetic's dtype, 0 where it does not
	total   *Tensor // of the weights, a scalar
}

// unread reports whether the targets of t are to be taken as they will be: a graph is being
// captured, and its replays will have other ones.
func (t *Tensor) unread(target *Tensor) bool {
	return Capturing() && target.Device() != CPU && target.Device() == t.Device() && target.nearest() == target
}

// classesOnDevice is classesOf without reading the targets: those that are no class do not
// count.
func classesOnDevice(op string, x, target *Tensor, o LossOptions) (c classesOnTensor) {
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
