package roofline

import "fmt"

// builder collects the operations of a step in float32 and under autocast, for a framework that does
// not fuse operations.
type builder struct{ Workload }

func (b *builder) both(op OpCost, full, mixed float64, dtype string) {
	op.DType, op.Bytes = "float32", full
	b.Full = append(b.Full, op)
	op.DType, op.Bytes = dtype, mixed
	b.Mixed = append(b.Mixed, op)
}

// product adds the product (m, k) by (k, n), repeated times times, with 16-bit operands under
// autocast.
func (b *builder) product(name string, times, m, k, n int) {
	t := float64(times)
	elements := t * (float64(m)*float64(k) + float64(k)*float64(n) + float64(m)*float64(n))
	b.both(OpCost{
		Name: name, FLOPs: 2 * t * float64(m) * float64(k) * float64(n), Product: true,
		Aligned: m%8 == 0 && k%8 == 0 && n%8 == 0,
	}, 4*elements, 2*elements, "float16")
}

// pointwise adds an operation on operands and a result of n elements each, in 16 bits under
// autocast.
func (b *builder) pointwise(name string, n float64, operands int) {
	b.both(OpCost{Name: name, FLOPs: n}, 4*n*float64(operands+1), 2*n*float64(operands+1), "float16")
}

// wide is pointwise in float32, under autocast too.
func (b *builder) wide(name string, n float64, operands int) {
	b.both(OpCost{Name: name, FLOPs: n}, 4*n*float64(operands+1), 4*n*float64(operands+1), "float32")
}

// cast adds a cast of n elements, under autocast only.
func (b *builder) cast(n float64) {
	b.Mixed = append(b.Mixed, OpCost{Name: "cast", DType: "float16", FLOPs: n, Bytes: 6 * n})
}

// linear adds a layer of m rows from k to n features with a bias, forward and backward. With
// fromWide its operand is float32; with first the operand needs no gradient.
func (b *builder) linear(m, k, n int, fromWide, first bool) {
	w := float64(k) * float64(n)
	x := float64(m) * float64(k)
	if fromWide {
		b.cast(x)
	}
	b.cast(w)
	b.cast(float64(n))
	b.product("linear", 1, m, k, n)
	if !first {
		b.product("linear backward, input", 1, m, n, k)
		if fromWide {
			b.cast(x)
		}
	}
	b.product("linear backward, weight", 1, n, m, k)
	b.pointwise("linear backward, bias", float64(m)*float64(n), 0)
	b.cast(w)
	b.cast(float64(n))
}

// Dense returns a training step of linear layers, from each of sizes to the next, with ReLU between
// them, mean squared error and SGD, on batch rows, without a scaler. The optimizer is one kernel.
func Dense(batch int, sizes ...int) Workload {
	if len(sizes) == 0 {
		panic(fmt.Errorf("roofline: dense: no sizes; want those of the input and of each layer's result"))
	}
	b := builder{Workload{Name: fmt.Sprintf("MLP %v, batch %d", sizes, batch)}}
	parameters := 0.0
	for i := 1; i < len(sizes); i++ {
		b.linear(batch, sizes[i-1], sizes[i], i == 1, i == 1)
		parameters += float64(sizes[i-1]+1) * float64(sizes[i])
		if i < len(sizes)-1 {
			b.pointwise("relu", float64(batch)*float64(sizes[i]), 1)
			b.pointwise("relu backward", float64(batch)*float64(sizes[i]), 2)
		}
	}
	out := float64(batch) * float64(sizes[len(sizes)-1])
	b.cast(out)
	b.wide("mse_loss", out, 1)
	b.wide("mse_loss backward", out, 2)
	b.cast(out)
	b.wide("sgd", parameters, 2)
	return b.Workload
}

// BERT returns a training step of an encoder (J. Devlin and others, 2018) on batch sequences of
// tokens, with AdamW and a scaler.
func BERT(batch, tokens, hidden, layers, heads, intermediate, vocabulary int) Workload {
	const most = 10_000
	if layers < 0 || layers > most || heads < 1 {
		panic(fmt.Errorf("roofline: bert: %d layers of %d heads; want 0 to %d layers, and 1 head or more", layers, heads, most))
	}
	b := builder{Workload{Name: fmt.Sprintf("BERT of %d layers of %d, %d sequences of %d tokens", layers, hidden, batch, tokens)}}
	rows := batch * tokens
	x, scores := float64(rows)*float64(hidden), float64(batch*heads)*float64(tokens)*float64(tokens)
	wide := float64(rows) * float64(intermediate)
	b.wide("embedding", x, 3)
	b.wide("embedding backward", x, 3)
	for range layers {
		for range 3 { // query, key and value
			b.linear(rows, hidden, hidden, true, false)
		}
		b.linear(rows, hidden, hidden, false, false)
		head := hidden / heads
		b.product("scores", batch*heads, tokens, head, tokens)
		b.product("context", batch*heads, tokens, tokens, head)
		for range 2 {
			b.product("scores backward", batch*heads, tokens, tokens, head)
			b.product("context backward", batch*heads, tokens, head, tokens)
		}
		b.pointwise("scale", scores, 1)
		b.wide("mask", scores, 1)
		b.wide("softmax", scores, 1)
		b.wide("softmax backward", scores, 2)
		b.wide("dropout", scores, 1)
		b.wide("dropout backward", scores, 1)
		b.cast(scores)
		b.cast(scores)
		b.pointwise("scale backward", scores, 1)
		b.linear(rows, hidden, intermediate, true, false)
		b.pointwise("gelu", wide, 1)
		b.pointwise("gelu backward", wide, 2)
		b.linear(rows, intermediate, hidden, false, false)
		for range 2 { // after attention, and after the feed-forward part
			b.pointwise("dropout", x, 1)
			b.pointwise("dropout backward", x, 1)
			b.wide("add", x, 2)
			b.wide("layer_norm", x, 1)
			b.wide("layer_norm backward", x, 3)
		}
	}
	parameters := float64(vocabulary+tokens)*float64(hidden) + float64(layers)*(4*float64(hidden)*float64(hidden)+2*float64(hidden)*float64(intermediate))
	b.wide("adamw", parameters, 6)
	b.Mixed = append(b.Mixed, OpCost{Name: "unscale", DType: "float32", FLOPs: parameters, Bytes: 8 * parameters})
	return b.Workload
}
