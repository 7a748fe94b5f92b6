package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// attended is scaled dot-product attention by loops, in float64, except that the weights of bfloat16
// are rounded. keep reports whether a query attends to a key.
func attended(q, k, v *Tensor, keep func(i, j int) bool) []float64 {
	var out []float64
	l, s, e, n := q.Size(0), k.Size(0), q.Size(1), v.Size(1)
	qs, ks, vs := q.Float64s(), k.Float64s(), v.Float64s()
	for i := range l {
		weights, total := make([]float64, s), 0.0
		for j := range s {
			sum := 0.0
			for x := range e {
				sum += qs[i*e+x] * ks[j*e+x]
			}
			if keep(i, j) {
				weights[j] = math.Exp(sum / math.Sqrt(float64(e)))
			}
			total += weights[j]
		}
		for j := range s {
			if total > 0 {
				weights[j] /= total
			}
			if v.DType() == BFloat16 {
				weights[j] = NewAs(BFloat16, weights[j:j+1]).Item()
			}
		}
		for x := range n {
			sum := 0.0
			for j := range s {
				sum += weights[j] * vs[j*n+x]
			}
			out = append(out, sum)
		}
	}
	return out
}

func TestAttention(t *testing.T) {
	all := func(int, int) bool { return true }
	causal := func(i, j int) bool { return j <= i }
	for _, c := range [][4]int{{1, 1, 1, 1}, {3, 5, 4, 2}, {5, 3, 1, 7}, {0, 2, 3, 2}, {2, 3, 4, 0}, {1, 33, 17, 3}} {
		for _, d := range dtypes {
			in := made(d, []int{c[0], c[2]}, []int{c[1], c[2]}, []int{c[1], c[3]})
			q, k, v := in[0], in[1], in[2]
			shape := []int{c[0], c[3]}
			compare(t, fmt.Sprint("attention", c), functional{}.ScaledDotProductAttention(q, k, v, attentionOptions{}), shape, attended(q, k, v, all))
			compare(t, fmt.Sprint("causal", c), functional{}.ScaledDotProductAttention(q, k, v, attentionOptions{IsCausal: true}), shape, attended(q, k, v, causal))
			keep := func(i, j int) bool { return (i+j)%3 > 0 && i != 1 }
			mask := make([]bool, c[0]*c[1])
			added := make([]float64, len(mask))
			for i := range mask {
				if mask[i] = keep(i/c[1], i%c[1]); !mask[i] {
					added[i] = math.Inf(-1)
				}
			}
			for name, m := range map[string]*Tensor{"bool": FromBools(mask, c[0], c[1]), "added": NewAs(d, added, c[0], c[1])} {
				compare(t, fmt.Sprint(name, " mask ", c), functional{}.ScaledDotProductAttention(q, k, v, attentionOptions{Mask: m}), shape, attended(q, k, v, keep))
			}
		}
	}
	// Weights and sums stay float32: the mean of 2048 ones and one 2049 is 2.
	v := Ones(2049, 1)
	v.Slice(0, 0, 1).Fill(2050)
	if got := (functional{}).ScaledDotProductAttention(Zeros(1, 1).Half(), Zeros(2049, 1).Half(), v.Half(), attentionOptions{}).Item(); got != 2 {
		t.Errorf("the mean of 2049 values: got %v, want 2", got)
	}
	// Dropout zeroes about the given share of the weights and scales up the others.
	ManualSeed(1)
	y := functional{}.ScaledDotProductAttention(Zeros(1000, 1), Zeros(50, 1), Ones(50, 1), attentionOptions{DropoutP: 0.3})
	if m := y.Mean().Item(); math.Abs(m-1) > 0.02 || y.Amax().Item() == 1 {
		t.Errorf("dropout: the mean is %v, want about 1", m)
	}
	if got := (functional{}).ScaledDotProductAttention(Zeros(2, 1), Zeros(3, 1), Ones(3, 1), attentionOptions{DropoutP: 1}).Float64s(); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("dropout with probability 1: got %v, want zeros", got)
	}
}

// TestCells compares with the formulas on the pages of torch.nn.LSTMCell and GRUCell.
func TestCells(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, d := range dtypes {
		in := made(d, []int{3, 2}, []int{3, 1}, []int{3, 1}, []int{4, 2}, []int{4, 1}, []int{4}, []int{4})
		x, h, c, wIH, wHH, bIH, bHH := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
		f := func(x *Tensor) []float64 { return x.Float64s() }
		fromInput := func(i, g int) float64 {
			return f(x)[2*i]*f(wIH)[2*g] + f(x)[2*i+1]*f(wIH)[2*g+1] + f(bIH)[g]
		}
		fromState := func(i, g int) float64 { return f(h)[i]*f(wHH)[g] + f(bHH)[g] }
		var wantH, wantC, gru, rnn []float64
		for i := range 3 {
			gate := func(g int) float64 { return fromInput(i, g) + fromState(i, g) }
			next := sigmoid(gate(1))*f(c)[i] + sigmoid(gate(0))*math.Tanh(gate(2))
			wantC, wantH = append(wantC, next), append(wantH, sigmoid(gate(3))*math.Tanh(next))
			z := sigmoid(gate(1))
			fresh := math.Tanh(fromInput(i, 2) + sigmoid(gate(0))*fromState(i, 2))
			gru, rnn = append(gru, (1-z)*fresh+z*f(h)[i]), append(rnn, math.Tanh(gate(0)))
		}
		gotH, gotC := LSTMCell(x, h, c, wIH, wHH, bIH, bHH)
		compare(t, "lstm h", gotH, []int{3, 1}, wantH)
		compare(t, "lstm c", gotC, []int{3, 1}, wantC)
		part := func(x *Tensor, n int) *Tensor { return x.Slice(0, 0, n) }
		compare(t, "gru", GRUCell(x, h, part(wIH, 3), part(wHH, 3), part(bIH, 3), part(bHH, 3)), []int{3, 1}, gru)
		compare(t, "rnn", RNNTanhCell(x, h, part(wIH, 1), part(wHH, 1), part(bIH, 1), part(bHH, 1)), []int{3, 1}, rnn)
	}
}

func TestSequenceErrors(t *testing.T) {
	q, k := Zeros(2, 3), Zeros(4, 3)
	attend := func(q, k, v *Tensor, o attentionOptions) func() {
		return func() { functional{}.ScaledDotProductAttention(q, k, v, o) }
	}
	x, h, w := Zeros(2, 3), Zeros(2, 4), Zeros(4, 3)
	for want, f := range map[string]func(){
		"tensor: scaled_dot_product_attention: shapes (2, 3), (3, 4) and (4, 3): the shapes do not match; want queries (…, L, E), keys (…, S, E) and values (…, S, V)": attend(q, k.T(), k, attentionOptions{}),
		"tensor: scaled_dot_product_attention: shapes (2, 3), (4, 3) and (2, 3): the shapes do not match":                                                              attend(q, k, q, attentionOptions{}),
		"tensor: scaled_dot_product_attention: shapes (5, 2, 3), (2, 4, 3) and (2, 4, 3): the leading dimensions do not broadcast":                                     attend(Zeros(5, 2, 3), Zeros(2, 4, 3), Zeros(2, 4, 3), attentionOptions{}),
		"tensor: scaled_dot_product_attention: shapes (2, 3), (4, 3), (4, 3) and (4, 2): cannot broadcast Mask to the scores' shape (2, 4)":                            attend(q, k, k, attentionOptions{Mask: Zeros(4, 2)}),
		"tensor: scaled_dot_product_attention: dtypes float32, float32, float32 and int64: Mask has dtype int64; want bool or a floating-point dtype":                  attend(q, k, k, attentionOptions{Mask: Zeros(2, 4).Long()}),
		"tensor: scaled_dot_product_attention: shapes (2, 3), (4, 3), (4, 3) and (2, 4): both Mask and IsCausal are set":                                               attend(q, k, k, attentionOptions{Mask: Zeros(2, 4), IsCausal: true}),
		"tensor: scaled_dot_product_attention: shapes (2, 3), (4, 3) and (4, 3): DropoutP is 1.5; want 0 to 1":                                                         attend(q, k, k, attentionOptions{DropoutP: 1.5}),
		"tensor: scaled_dot_product_attention: shapes (2, 3) and (4, 3): the heads cannot be shared":                                                                   attend(q, k, k, attentionOptions{EnableGQA: true}),
		"tensor: scaled_dot_product_attention: dtypes float32, float16 and float32: operands must have one dtype":                                                      attend(q, k.Half(), k, attentionOptions{}),
		"tensor: rnn_tanh_cell: shapes (2, 3), (2, 4), (4, 2) and (4, 4): input and weight do not match; want input (n, in) or (in,) and weight (1 hidden, in)":        func() { RNNTanhCell(x, h, Zeros(4, 2), Zeros(4, 4), nil, nil) },
		"tensor: rnn_relu_cell: shapes (2, 3), (2, 4), (4, 3) and (4, 3): the weights do not match; want (1 hidden, in) and (1 hidden, hidden)":                        func() { RNNReLUCell(x, h, w, w, nil, nil) },
		"tensor: gru_cell: shapes (2, 3), (2, 4), (4, 3) and (4, 4): the weights do not match; want (3 hidden, in) and (3 hidden, hidden)":                             func() { GRUCell(x, h, w, Zeros(4, 4), nil, nil) },
		"tensor: lstm_cell: shapes (2, 3), (2, 1), (2, 4), (4, 3) and (4, 1): state has shape (2, 4); want (2, 1)":                                                     func() { LSTMCell(x, Zeros(2, 1), h, w, Zeros(4, 1), nil, nil) },
		"tensor: rnn_tanh_cell: shapes (2, 3), (3, 4), (4, 3) and (4, 4): state has shape (3, 4); want (2, 4)":                                                         func() { RNNTanhCell(x, Zeros(3, 4), w, Zeros(4, 4), nil, nil) },
		"tensor: rnn_tanh_cell: shapes (2, 3), (2, 4), (4, 3) and (4, 4): only one bias is set; want both bIH and bHH or neither":                                      func() { RNNTanhCell(x, h, w, Zeros(4, 4), Zeros(4), nil) },
		"tensor: rnn_tanh_cell: shapes (2, 3), (2, 4), (4, 3), (4, 4), (4,) and (5,): bias has shape (5,); want (4,)":                                                  func() { RNNTanhCell(x, h, w, Zeros(4, 4), Zeros(4), Zeros(5)) },
		"tensor: rnn_tanh_cell: dtypes float16, float32, float32 and float32: operands must have one dtype":                                                            func() { RNNTanhCell(x.Half(), h, w, Zeros(4, 4), nil, nil) },
	} {
		if err := Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestAttentionBlocks checks that several blocks of queries, or groups of heads, give the same bits as
// a single block.
func TestAttentionBlocks(t *testing.T) {
	const keys = 1000
	g := NewGenerator(3)
	for _, c := range []struct {
		name    string
		queries int // 1100 are computed in blocks, 200 in groups of heads
		heads   int // of keys and values
		dtype   DType
		o       attentionOptions
	}{
		{"plain", 1100, 2, Float32, attentionOptions{}},
		{"causal", 1100, 2, Float32, attentionOptions{IsCausal: true, Scale: 0.3}},
		{"mask", 1100, 2, Float32, attentionOptions{Mask: g.mask(0.7, []int{1100, keys})}},
		{"added mask", 1100, 2, BFloat16, attentionOptions{Mask: g.Randn(2, 1, keys)}},
		{"dropout", 1100, 2, Float32, attentionOptions{DropoutP: 0.2, IsCausal: true}},
		{"shared heads", 1100, 1, Float32, attentionOptions{EnableGQA: true}},
		{"groups", 200, 2, BFloat16, attentionOptions{}},
		{"groups, mask", 200, 2, Float32, attentionOptions{Mask: g.mask(0.7, []int{2, 1, keys})}},
		{"groups, dropout", 200, 1, BFloat16, attentionOptions{DropoutP: 0.2, IsCausal: true, EnableGQA: true}},
	} {
		queries := c.queries
		q := g.Randn(2, queries, 8).To(c.dtype).Detach().RequireGrad()
		k, v := g.Randn(c.heads, keys, 8).To(c.dtype).Detach().RequireGrad(), g.Randn(c.heads, keys, 5).To(c.dtype).Detach().RequireGrad()
		y := functional{}.ScaledDotProductAttention(q, k, v, c.o)
		a, in := y.v.op.(attention), y.v.in
		one := composeFrom(map[DType]int{BFloat16: 3}[c.dtype], func(x []*Tensor) *Tensor {
			x = a.share(x)
			if a.inBlocks(x) != (queries > queryBlock) || 2*queries*keys <= groupScores {
				t.Errorf("%s: attention is not computed in blocks or groups", c.name)
			}
			if c.dtype == Float32 {
				return a.dropped(a.weights(x), x).MatMul(x[2])
			}
			k := x[1].Transpose(-1, -2)
			s := unsetTensor(x[0].mem.backend, Float32, productShape(x[0], k))
			multiplyTo(s, []*Tensor{x[0], k})
			return a.dropped(a.normalized(a.maskedScores(s.MulScalar(a.scale), x)), x).To(c.dtype).MatMul(x[2])
		}, in)
		if !slices.Equal(y.Bits(), narrow(one, c.dtype).Bits()) {
			t.Errorf("%s: the result differs from that of a single block", c.name)
		}
		dy := g.Randn(y.Shape()...).To(c.dtype)
		got := GradWith(y, []*Tensor{q, k, v}, BackwardOptions{Gradient: dy, RetainGraph: true})
		want := GradWith(y, []*Tensor{q, k, v}, BackwardOptions{Gradient: dy, CreateGraph: true})
		for i := range want {
			if !slices.Equal(got[i].Bits(), want[i].Detach().Bits()) {
				t.Errorf("%s: gradient %d differs from that of a single block", c.name, i)
			}
		}
		if !slices.Equal(got[0].Shape(), []int{2, queries, 8}) {
			t.Errorf("%s: got shape %v", c.name, got[0].Shape())
		}
	}
}
