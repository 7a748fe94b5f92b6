package dist

import "halfnote/tensor"

// CommHook reduces a bucket of gradients in place of the default: it starts a reduction with b.AllReduceAsync and returns it; a
// function passed to Then may convert the result back into b.Buffer(). The bucket holds this rank's gradients, not yet divided by
// the number of ranks. Hooks run during Backward, in the order of the buckets.
type CommHook func(b *GradBucket) *Work

// AllReduceHook averages the bucket in its own dtype: torch's allreduce_hook.
func AllReduceHook(b *GradBucket) *Work {
	b.present("AllReduceHook")
	b.flat.DivScalarAssign(float64(b.g.size))
	return b.AllReduceAsync(b.flat, Sum)
}

// FP16CompressHook averages the bucket as float16, half of the bytes. Each gradient is divided by the number of ranks before the
// sum, so that the sum overflows later. It is torch's fp16_compress_hook.
func FP16CompressHook(b *GradBucket) *Work {
	b.present("FP16CompressHook")
	return compress(b, tensor.Float16, Sum)
}

// BF16CompressHook averages the bucket as bfloat16, half of the bytes: float32's range with 8 bits of precision. It is torch's
// bf16_compress_hook.
func BF16CompressHook(b *GradBucket) *Work {
	b.present("BF16CompressHook")
	return compress(b, tensor.BFloat16, Sum)
}

// CompressHook returns a hook that averages the bucket as d, with partial sums as op says:
// CompressHook(tensor.BFloat16, dist.Sum.Accumulate(tensor.BFloat16)) rounds after each addition.
func CompressHook(d tensor.DType, op ReduceOp) CommHook {
	return func(b *GradBucket) *Work {
		b.present("CompressHook")
		return compress(b, d, op)
	}
}

// present panics unless b is a bucket that a DistributedDataParallel has made.
func (b *GradBucket) present(call string) {
	if b == nil || b.g == nil {
		panic(&Error{Code: "argument", Call: call, Why: "the bucket is empty", Cure: "pass the hook to RegisterCommHook, which calls it with buckets"})
	}
}

func compress(b *GradBucket, d tensor.DType, op ReduceOp) *Work {
	small := b.flat.To(d)
	if small == b.flat {
		small = small.Clone()
	}
	small.DivScalarAssign(float64(b.g.size))
	flooded := 0
	if len(listening()) > 0 {
		x, y := b.flat.Stats(), small.Stats()
		flooded = y.NaNs + y.Infs - x.NaNs - x.Infs
	}
	w := b.AllReduceAsync(small, op).Then(func() { b.flat.Assign(small) })
	w.flooded = flooded
	return w
}
