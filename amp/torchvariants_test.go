package amp_test

import (
	"fmt"
	"math"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The calls of testdata/dtypes_variants.py: functions whose composition in PyTorch depends on
// sizes, ranks and optional arguments.

var (
	image   = []int{2, 2, 6, 6}
	volume  = []int{1, 2, 4, 4, 4}
	line    = []int{2, 2, 6}
	byRank  = map[int][]int{1: line, 2: image, 3: volume}
	two     = []int{2}
	numbers = map[string]float64{"0.0": 0, "0.5": .5, "1.0": 1, "1.5": 1.5, "2.0": 2, "3.0": 3, "-1.0": -1, "inf": math.Inf(1), "-inf": math.Inf(-1)}
)

func variantCalls() []opCall {
	var all []opCall
	for _, part := range [][]opCall{cellVariants(), layerVariants(), einsumVariants(), productVariants(), normVariants(), reductionVariants(),
		windowVariants(), convVariants(), lossVariants(), attentionVariants(), otherVariants()} {
		all = append(all, part...)
	}
	return all
}

func zeros(shape ...int) ten { return tensor.Zeros(shape...).Long() }

func first(a, _ ten) ten { return a }

func second(_, b ten) ten { return b }

func cellVariants() (all []opCall) {
	lstm := func(of func(h, c ten) ten) func(x, h, c, wi, wh, bi, bh ten) ten {
		return func(x, h, c, wi, wh, bi, bh ten) ten { return of(tensor.LSTMCell(x, h, c, wi, wh, bi, bh)) }
	}
	of1 := func(f func(x, h, wi, wh, bi, bh ten) ten) func(x, h, c, wi, wh, bi, bh ten) ten {
		return func(x, h, _, wi, wh, bi, bh ten) ten { return f(x, h, wi, wh, bi, bh) }
	}
	for _, c := range []struct {
		name, suffix  string
		gates, states int
		f             func(x, h, c, wi, wh, bi, bh ten) ten
	}{
		{"rnn_tanh_cell", "", 1, 1, of1(tensor.RNNTanhCell)}, {"rnn_relu_cell", "", 1, 1, of1(tensor.RNNReLUCell)}, {"gru_cell", "", 3, 1, of1(tensor.GRUCell)},
		{"lstm_cell", "", 4, 2, lstm(first)}, {"lstm_cell", ", c", 4, 2, lstm(second)},
	} {
		gates := []int{c.gates * side, side}
		states := [][]int{matrix, matrix, matrix}[:1+c.states]
		// The operands are the states, then weights and biases.
		run := func(in []ten) ten {
			var w [4]ten
			copy(w[:], in[1+c.states:])
			return c.f(in[0], in[1], in[c.states], w[0], w[1], w[2], w[3])
		}
		with := func(name string, weights ...[]int) {
			all = append(all, several(c.name+name+c.suffix, makes(append(append([][]int{}, states...), weights...)...), run))
		}
		own := func(name string, biases int) {
			all = append(all, several(c.name+name+c.suffix, makes(states...), func(in []ten) ten {
				w, b := tensor.Full(.1, gates...), tensor.Full(.1, gates[0])
				return run(append(append([]ten{}, in...), []ten{w, w, b, b}[:2+biases]...))
			}))
		}
		with("", gates, gates)
		own(" of float32 weights", 2)
		if c.suffix == "" {
			with(" with biases", gates, gates, gates[:1], gates[:1])
			own(" of float32 weights without biases", 0)
		}
	}
	one := func(name string, f func(x ten) ten) {
		all = append(all, several(name, makes(matrix), func(in []ten) ten { return f(in[0]) }))
	}
	one("RNNCell", func(x ten) ten { return nn.NewRNNCell(side, side).Forward(x) })
	one("GRUCell", func(x ten) ten { return nn.NewGRUCell(side, side).Forward(x) })
	one("LSTMCell", func(x ten) ten { return nn.NewLSTMCell(side, side).Forward(x) })
	return all
}

func layerVariants() (all []opCall) {
	one := func(name string, f func(x ten) ten) {
		all = append(all, several(name, makes(cube), func(in []ten) ten { return f(in[0]) }))
	}
	deep := []nn.Option{nn.NumLayers(2), nn.Bidirectional()}
	for name, o := range map[string][]nn.Option{"": nil, " relu": {nn.Nonlinearity("relu")}} {
		one("RNN"+name, func(x ten) ten { return first(nn.NewRNN(side, side, o...).ForwardState(x, nil)) })
		one("RNN"+name+", last", func(x ten) ten { return second(nn.NewRNN(side, side, o...).ForwardState(x, nil)) })
	}
	for name, o := range map[string][]nn.Option{"": nil, " two layers": deep, " without biases": {nn.Bias(false)}} {
		one("GRU"+name, func(x ten) ten { return first(nn.NewGRU(side, side, o...).ForwardState(x, nil)) })
		one("GRU"+name+", last", func(x ten) ten { return second(nn.NewGRU(side, side, o...).ForwardState(x, nil)) })
	}
	for name, o := range map[string][]nn.Option{"": nil, " two layers": deep, " without biases": {nn.Bias(false)}, " projected": {nn.ProjSize(4)}} {
		one("LSTM"+name, func(x ten) ten { y, _, _ := nn.NewLSTM(side, side, o...).ForwardState(x, nil, nil); return y })
		one("LSTM"+name+", last", func(x ten) ten { _, h, _ := nn.NewLSTM(side, side, o...).ForwardState(x, nil, nil); return h })
		one("LSTM"+name+", c", func(x ten) ten { _, _, c := nn.NewLSTM(side, side, o...).ForwardState(x, nil, nil); return c })
	}
	state := makes(cube, []int{1, side, side})
	return append(all, binary("RNN from a state", state, func(x, h ten) ten { return first(nn.NewRNN(side, side).ForwardState(x, h)) }),
		binary("GRU from a state", state, func(x, h ten) ten { return first(nn.NewGRU(side, side).ForwardState(x, h)) }),
		binary("LSTM from a state", state, func(x, h ten) ten { y, _, _ := nn.NewLSTM(side, side).ForwardState(x, h, h); return y }))
}

func einsumVariants() (all []opCall) {
	equation := func(name string, shapes ...[]int) {
		text, _, _ := strings.Cut(name, " of")
		all = append(all, several("einsum "+name, makes(shapes...), func(in []ten) ten { return tensor.Einsum(text, in...) }))
	}
	for n, equations := range map[int]string{
		1: "ij-> ii->i ii-> ij->ji ij ij->i ij->j ...ij->...ji",
		2: "ij,jk->ik ij,ij->ij ij,ij-> ij,ij->i ij,kl->ijkl ij,kl->ij ij,jk->i ij,kj->ik ii,ij->j ij,jk ij,kl->",
		3: "ij,jk,kl->il ij,ij,ij->ij ij,ij,ij-> ij,kl,mn->im",
	} {
		for _, e := range strings.Fields(equations) {
			equation(e, [][]int{matrix, matrix, matrix}[:n]...)
		}
	}
	for e, shapes := range map[string][][]int{
		"i,i->": {vector, vector}, "i,i->i": {vector, vector}, "i,j->ij": {vector, vector}, "ij,j->ij": {matrix, vector}, "ij,j->i": {matrix, vector},
		"ij,->ij": {matrix, {}}, "i,ij,j->": {vector, matrix, vector}, "bij,bjk->bik": {cube, cube}, "bij,bij->b": {cube, cube}, "bij,bij->bij": {cube, cube},
		"ij,jk->ik of one": {{1, 1}, {1, 1}}, "ij,jk->ik of rows": {{side, 1}, {1, side}}, "i,i,i->": {vector, vector, vector},
	} {
		equation(e, shapes...)
	}
	return all
}

func productVariants() (all []opCall) {
	add := func(name string, f func(in []ten) ten, shapes ...[]int) {
		all = append(all, several(name, makes(shapes...), f))
	}
	for p := range 6 {
		add(fmt.Sprint("linalg_matrix_power ", p), func(in []ten) ten { return in[0].MatrixPower(p) }, matrix)
	}
	for p := range 2 {
		add(fmt.Sprint("linalg_matrix_power ", p, " of a batch"), func(in []ten) ten { return in[0].MatrixPower(p) }, cube)
	}
	shapes := map[byte][]int{'1': vector, '2': matrix, '3': cube}
	for _, n := range strings.Fields("1x1 1x2 2x1 2x2 3x1 1x3 3x2 2x3 3x3") {
		add("matmul "+n, func(in []ten) ten { return in[0].MatMul(in[1]) }, shapes[n[0]], shapes[n[2]])
	}
	for _, n := range []string{"1", "2", "3"} {
		add("linear "+n, func(in []ten) ten { return tensor.Linear(in[0], in[1], nil) }, shapes[n[0]], matrix)
		if n != "2" {
			add("linear "+n+" with bias", func(in []ten) ten { return tensor.Linear(in[0], in[1], in[2]) }, shapes[n[0]], matrix, vector)
		}
	}
	chain := func(in []ten) ten { return tensor.ChainMatMul(in...) }
	multi := func(in []ten) ten { return tensor.MultiDot(in...) }
	scaled := tensor.AddMMOptions{Alpha: 2, Beta: .5}
	add("chain_matmul of one", chain, matrix)
	add("chain_matmul of two", chain, matrix, matrix)
	add("linalg_multi_dot of two", multi, matrix, matrix)
	add("linalg_multi_dot of vectors", multi, vector, matrix, vector)
	add("linalg_multi_dot of two vectors", multi, vector, vector)
	add("tensordot 0", func(in []ten) ten { return in[0].TensorDot(in[1], nil, nil) }, matrix, matrix)
	add("tensordot 2", func(in []ten) ten { return in[0].TensorDot(in[1], []int{0, 1}, []int{0, 1}) }, matrix, matrix)
	add("tensordot of vectors", func(in []ten) ten { return in[0].TensorDot(in[1], []int{0}, []int{0}) }, vector, vector)
	add("linalg_vecdot of vectors", func(in []ten) ten { return in[0].VecDot(in[1], -1) }, vector, vector)
	add("addmm scaled", func(in []ten) ten { return in[0].AddMM(in[1], in[2], scaled) }, matrix, matrix, matrix)
	add("addbmm scaled", func(in []ten) ten { return in[0].AddBMM(in[1], in[2], scaled) }, matrix, cube, cube)
	add("kron of vectors", func(in []ten) ten { return in[0].Kron(in[1]) }, vector, vector)
	add("outer of vectors", func(in []ten) ten { return in[0].Outer(in[1]) }, vector, vector)
	bilinear := func(in []ten) ten { return tensor.Bilinear(in[0], in[1], in[2], nil) }
	add("bilinear without bias", bilinear, []int{3, 2}, []int{3, 2}, []int{1, 2, 2})
	add("bilinear of vectors", bilinear, two, two, []int{1, 2, 2})
	return all
}

func normVariants() (all []opCall) {
	one := func(name string, f func(x ten) ten, shape []int) {
		all = append(all, several(name, makes(shape), func(in []ten) ten { return f(in[0]) }))
	}
	training := tensor.BatchNormOptions{Training: true}
	for rank, shape := range map[int][]int{3: line, 4: image, 5: volume} {
		name := fmt.Sprint(" ", rank)
		one("local_response_norm"+name, func(x ten) ten { return nn.LocalResponseNorm(x, 2) }, shape)
		one("batch_norm"+name, func(x ten) ten { return tensor.BatchNorm(x, nil, nil, nil, nil, training) }, shape)
		one("instance_norm"+name, func(x ten) ten { return tensor.InstanceNorm(x, nil, nil, nil, nil, training) }, shape)
		one("batch_norm in use"+name, func(x ten) ten {
			return tensor.BatchNorm(x, tensor.Full(.1, 2), tensor.Full(.1, 2), nil, nil, tensor.BatchNormOptions{})
		}, shape)
		all = append(all, several("group_norm"+name, makes(shape, two, two), func(in []ten) ten { return tensor.GroupNorm(in[0], 2, in[1], in[2], tensor.NormOptions{}) }))
	}
	one("layer_norm of two dimensions", func(x ten) ten { return tensor.LayerNorm(x, matrix, nil, nil, tensor.NormOptions{}) }, cube)
	one("rms_norm of two dimensions", func(x ten) ten { return tensor.RMSNorm(x, matrix, nil, tensor.NormOptions{}) }, cube)
	one("rms_norm with eps", func(x ten) ten { return tensor.RMSNorm(x, vector, nil, tensor.NormOptions{Eps: 1e-5}) }, matrix)
	one("renorm 1", func(x ten) ten { return x.Renorm(1, 1, 1) }, cube)
	for _, n := range strings.Fields("1.0 2.0 3.0 0.5 inf") {
		p := numbers[n]
		pair := makes(matrix, matrix)
		one("normalize "+n, func(x ten) ten { return nn.Normalize(x, nn.P(p)) }, matrix)
		one("pdist "+n, func(x ten) ten { return x.PDist(p) }, matrix)
		all = append(all, binary("pairwise_distance "+n, pair, func(x, y ten) ten { return x.PairwiseDistance(y, p, 1e-6) }),
			binary("cdist "+n, pair, func(x, y ten) ten { return x.CDist(y, p) }), binary("dist "+n, pair, func(x, y ten) ten { return x.Dist(y, p) }))
	}
	rows := tensor.PNormOptions{Dims: []int{1}}
	for _, n := range strings.Fields("0.0 1.0 2.0 3.0 inf -inf") {
		p := numbers[n]
		one("norm "+n, func(x ten) ten { return x.NormWith(p, tensor.PNormOptions{}) }, matrix)
		one("norm "+n+" of rows", func(x ten) ten { return x.KeepDim().NormWith(p, rows) }, matrix)
		one("linalg_vector_norm "+n, func(x ten) ten { return x.VectorNorm(p, rows) }, matrix)
	}
	for _, order := range strings.Fields("fro nuc 1 -1 2 -2 inf -inf") {
		one("linalg_matrix_norm "+order, func(x ten) ten { return x.MatrixNorm(order, tensor.PNormOptions{}) }, cube)
	}
	return append(all, binary("cdist of many", makes([]int{30, 2}, []int{30, 2}), func(x, y ten) ten { return x.CDist(y, 2) }),
		binary("cosine_similarity of vectors", makes(vector, vector), func(x, y ten) ten { return x.CosineSimilarity(y, 0, 1e-8) }))
}

func reductionVariants() (all []opCall) {
	type K = tensor.KeepDim
	one := func(name string, f func(x ten) ten, shape []int) {
		all = append(all, several(name, makes(shape), func(in []ten) ten { return f(in[0]) }))
	}
	for name, f := range map[string]func(k K, dims ...int) ten{
		"sum": K.Sum, "mean": K.Mean, "prod": K.Prod, "var": K.Var, "std": K.Std, "amax": K.Amax, "amin": K.Amin, "logsumexp": K.LogSumExp, "nansum": K.NanSum,
		"nanmean": K.NanMean, "argmax": K.Argmax, "all": K.All, "any": K.Any, "count_nonzero": K.CountNonzero,
		"median": func(k K, dims ...int) ten { return first(k.Median(dims[0])) }, "mode": func(k K, dims ...int) ten { return first(k.Mode(dims[0])) },
	} {
		one(name+" of rows kept", func(x ten) ten { return f(x.KeepDim(), 1) }, matrix)
	}
	for name, f := range map[string]func(x ten, dims ...int) ten{
		"sum": ten.Sum, "mean": ten.Mean, "prod": ten.Prod, "var": ten.Var, "std": ten.Std, "amax": ten.Amax, "amin": ten.Amin, "logsumexp": ten.LogSumExp, "nansum": ten.NanSum,
		"nanmean": ten.NanMean, "argmax": ten.Argmax, "all": ten.All, "any": ten.Any, "count_nonzero": ten.CountNonzero,
		"median": func(x ten, dims ...int) ten { return first(x.Median(dims[0])) }, "mode": func(x ten, dims ...int) ten { return first(x.Mode(dims[0])) },
	} {
		one(name+" of rows", func(x ten) ten { return f(x, 1) }, matrix)
	}
	for _, n := range strings.Fields("0.0 0.5 1.0 2.0 3.0 -1.0 1.5") {
		one("pow "+n, func(x ten) ten { return x.Pow(numbers[n]) }, vector)
	}
	return all
}

func windowVariants() (all []opCall) {
	one := func(name string, f func(x ten) ten, shape []int) {
		all = append(all, several(name, makes(shape), func(in []ten) ten { return f(in[0]) }))
	}
	pools := map[string]func(x ten, size int, o ...nn.Option) ten{
		"avg_pool1d": nn.AvgPool1d, "avg_pool2d": nn.AvgPool2d, "avg_pool3d": nn.AvgPool3d, "max_pool1d": nn.MaxPool1d, "max_pool2d": nn.MaxPool2d, "max_pool3d": nn.MaxPool3d,
	}
	adaptive := map[string]func(x ten, places ...int) ten{
		"adaptive_avg_pool1d": func(x ten, places ...int) ten { return nn.AdaptiveAvgPool1d(x, places[0]) }, "adaptive_avg_pool2d": nn.AdaptiveAvgPool2d, "adaptive_avg_pool3d": nn.AdaptiveAvgPool3d,
		"adaptive_max_pool1d": func(x ten, places ...int) ten { return nn.AdaptiveMaxPool1d(x, places[0]) }, "adaptive_max_pool2d": nn.AdaptiveMaxPool2d, "adaptive_max_pool3d": nn.AdaptiveMaxPool3d,
	}
	lp := map[string]func(x ten, p float64, size int, o ...nn.Option) ten{"lp_pool1d": nn.LPPool1d, "lp_pool2d": nn.LPPool2d}
	resized := func(mode string, d int) {
		size := 3
		if mode == "area" {
			size = 5
		}
		one(fmt.Sprint("interpolate ", mode, " ", d), func(x ten) ten {
			return x.Interpolate(tensor.InterpolateOptions{Size: []int{size}, Mode: mode})
		}, byRank[d])
		one(fmt.Sprint("interpolate ", mode, " ", d, " by a factor"), func(x ten) ten {
			return x.Interpolate(tensor.InterpolateOptions{ScaleFactor: []float64{1.5}, Mode: mode})
		}, byRank[d])
	}
	for d, shape := range byRank {
		rank := fmt.Sprint(d, "d")
		for name, f := range pools {
			if strings.HasSuffix(name, rank) {
				one(name+" 2", func(x ten) ten { return f(x, 2) }, shape)
				one(name+" 2 unbatched", func(x ten) ten { return f(x, 2) }, shape[1:])
			}
		}
		for name, f := range adaptive {
			if strings.HasSuffix(name, rank) {
				one(name+" 2", func(x ten) ten { return f(x, 2) }, shape)
				one(name+" 2 unbatched", func(x ten) ten { return f(x, 2) }, shape[1:])
				one(name+" 1", func(x ten) ten { return f(x, 1) }, shape)
			}
		}
		if f := lp["lp_pool"+rank]; f != nil {
			one("lp_pool"+rank+" 2", func(x ten) ten { return f(x, 2, 2) }, shape)
			one("lp_pool"+rank+" 3", func(x ten) ten { return f(x, 3, 2) }, shape)
		}
		for _, mode := range strings.Fields("constant reflect replicate circular") {
			one(fmt.Sprint("pad ", mode, " ", d), func(x ten) ten {
				return x.Pad([]int{1, 1, 1, 1, 1, 1}[:2*d], tensor.PadOptions{Mode: mode})
			}, shape)
		}
		one(fmt.Sprint("pad constant part ", d), func(x ten) ten { return x.Pad([]int{1, 0}, tensor.PadOptions{}) }, shape)
		for _, mode := range append(strings.Fields("nearest nearest-exact area"), [][]string{{"linear"}, {"bilinear", "bicubic"}, {"trilinear"}}[d-1]...) {
			resized(mode, d)
		}
	}
	one("max_pool2d indices", func(x ten) ten { return second(nn.MaxPool2dWithIndices(x, 2)) }, image)
	for _, mode := range []string{"bilinear", "bicubic"} {
		one("interpolate "+mode+" antialias", func(x ten) ten {
			return x.Interpolate(tensor.InterpolateOptions{Size: []int{3}, Mode: mode, Antialias: true})
		}, image)
	}
	for name, o := range map[string]tensor.GridSampleOptions{
		"3": {}, "nearest": {Mode: "nearest"}, "bicubic": {Mode: "bicubic"}, "border": {PaddingMode: "border", AlignCorners: true},
	} {
		in := makes(image, []int{2, 3, 3, 2})
		if name == "3" {
			in = makes(volume, []int{1, 2, 2, 2, 3})
		}
		all = append(all, binary("grid_sample "+name, in, func(x, g ten) ten { return x.GridSample(g, o) }))
	}
	return all
}

func convVariants() (all []opCall) {
	convs := []func(x, w, b ten, o tensor.ConvOptions) ten{tensor.Conv1d, tensor.Conv2d, tensor.Conv3d}
	transposes := []func(x, w, b ten, o tensor.ConvTransposeOptions) ten{tensor.ConvTranspose1d, tensor.ConvTranspose2d, tensor.ConvTranspose3d}
	for i, f := range convs {
		d := i + 1
		x, w, t := []int{2, 4, 5, 5, 5}[:2+d], []int{6, 4, 3, 3, 3}[:2+d], []int{4, 6, 3, 3, 3}[:2+d]
		conv := func(same bool) func(in []ten) ten {
			return func(in []ten) ten { return f(in[0], in[1], of3(in), tensor.ConvOptions{Same: same}) }
		}
		all = append(all, several(fmt.Sprintf("conv%dd with bias", d), makes(x, w, []int{6}), conv(false)),
			several(fmt.Sprintf("conv%dd without bias", d), makes(x, w), conv(false)), several(fmt.Sprintf("conv%dd same", d), makes(x, w), conv(true)),
			several(fmt.Sprintf("conv%dd unbatched", d), makes(x[1:], w), conv(false)),
			several(fmt.Sprintf("conv_transpose%dd with bias", d), makes(x, t, []int{6}), func(in []ten) ten {
				return transposes[i](in[0], in[1], in[2], tensor.ConvTransposeOptions{})
			}))
	}
	return all
}

func lossVariants() (all []opCall) {
	type options = []nn.Option
	add := func(name string, f func(in []ten) ten, shapes ...[]int) {
		all = append(all, several(name, makes(shapes...), f))
	}
	pair := func(name string, f func(x, y ten) ten) {
		add(name, func(in []ten) ten { return f(in[0], in[1]) }, matrix, matrix)
	}
	one := func(name string, f func(x ten) ten, shape []int) {
		add(name, func(in []ten) ten { return f(in[0]) }, shape)
	}
	triple := func(name string, f func(x, y, z ten) ten) {
		add(name, func(in []ten) ten { return f(in[0], in[1], in[2]) }, matrix, matrix, matrix)
	}
	rows, ones := func() ten { return zeros(side) }, func() ten { return zeros(side).AddScalar(1) }
	for how, r := range map[string]string{" none": "none", " sum": "sum"} {
		o := options{nn.Reduction(r)}
		for name, f := range map[string]func(x, y ten, o ...nn.Option) ten{
			"l1_loss": nn.L1Loss, "mse_loss": nn.MSELoss, "kl_div": nn.KLDiv, "poisson_nll_loss": nn.PoissonNLLLoss,
			"binary_cross_entropy_with_logits": nn.BinaryCrossEntropyWithLogits, "soft_margin_loss": nn.SoftMarginLoss, "multilabel_soft_margin_loss": nn.MultiLabelSoftMarginLoss,
			"smooth_l1_loss":       nn.SmoothL1Loss,
			"huber_loss":           nn.HuberLoss,
			"hinge_embedding_loss": nn.HingeEmbeddingLoss,
		} {
			pair(name+how, func(x, y ten) ten { return f(x, y, o...) })
		}
		one("nll_loss"+how, func(x ten) ten { return nn.NLLLoss(x, rows(), o...) }, matrix)
		one("cross_entropy"+how, func(x ten) ten { return nn.CrossEntropy(x, rows(), o...) }, matrix)
		one("multi_margin_loss"+how, func(x ten) ten { return nn.MultiMarginLoss(x, rows(), append(o, nn.Margin(1))...) }, matrix)
		pair("cross_entropy of probabilities"+how, func(x, y ten) ten { return nn.CrossEntropy(x, y, o...) })
		pair("cosine_embedding_loss"+how, func(x, y ten) ten { return nn.CosineEmbeddingLoss(x, y, ones(), append(o, nn.Margin(0))...) })
		pair("binary_cross_entropy"+how, func(x, y ten) ten { return nn.BinaryCrossEntropy(x.Sigmoid(), y.Sigmoid(), o...) })
		triple("triplet_margin_loss"+how, func(x, y, z ten) ten { return nn.TripletMarginLoss(x, y, z, append(o, nn.Margin(1))...) })
		triple("margin_ranking_loss"+how, func(x, y, z ten) ten { return nn.MarginRankingLoss(x, y, z, append(o, nn.Margin(0))...) })
		triple("gaussian_nll_loss"+how, func(x, y, v ten) ten { return nn.GaussianNLLLoss(x, y, v.Abs(), o...) })
	}
	weighted := func(name string, f func(x, w ten) ten) {
		add(name, func(in []ten) ten { return f(in[0], in[1]) }, matrix, vector)
	}
	weighted("nll_loss weighted", func(x, w ten) ten { return nn.NLLLoss(x, rows(), nn.Weight(w)) })
	weighted("cross_entropy weighted", func(x, w ten) ten { return nn.CrossEntropy(x, rows(), nn.Weight(w)) })
	weighted("multi_margin_loss weighted", func(x, w ten) ten { return nn.MultiMarginLoss(x, rows(), nn.Margin(1), nn.Weight(w)) })
	one("nll_loss of images", func(x ten) ten { return nn.NLLLoss(x, zeros(2, 6, 6)) }, image)
	one("nll_loss of lines", func(x ten) ten { return nn.NLLLoss(x, zeros(2, 6)) }, line)
	one("nll_loss of a vector", func(x ten) ten { return nn.NLLLoss(x, zeros()) }, vector)
	one("cross_entropy smoothed", func(x ten) ten { return nn.CrossEntropy(x, rows(), nn.LabelSmoothing(.1)) }, matrix)
	one("cross_entropy of images", func(x ten) ten { return nn.CrossEntropy(x, zeros(2, 6, 6)) }, image)
	one("cross_entropy of a vector", func(x ten) ten { return nn.CrossEntropy(x, zeros()) }, vector)
	one("multi_margin_loss 2", func(x ten) ten { return nn.MultiMarginLoss(x, rows(), nn.Margin(1), nn.P(2)) }, matrix)
	one("multilabel_margin_loss none", func(x ten) ten {
		return nn.MultiLabelMarginLoss(x, zeros(side, side), nn.Reduction("none"))
	}, matrix)
	triple("binary_cross_entropy_with_logits weighted", func(x, y, w ten) ten { return nn.BinaryCrossEntropyWithLogits(x, y, nn.Weight(w)) })
	triple("binary_cross_entropy weighted", func(x, y, w ten) ten { return nn.BinaryCrossEntropy(x.Sigmoid(), y.Sigmoid(), nn.Weight(w)) })
	pair("kl_div of logarithms", func(x, y ten) ten { return nn.KLDiv(x, y, nn.LogTarget()) })
	pair("poisson_nll_loss full", func(x, y ten) ten { return nn.PoissonNLLLoss(x, y, nn.FullLoss()) })
	pair("poisson_nll_loss of rates", func(x, y ten) ten { return nn.PoissonNLLLoss(x.Abs(), y, nn.LogInput(false)) })
	pair("smooth_l1_loss of beta 0", func(x, y ten) ten { return nn.SmoothL1Loss(x, y, nn.Beta(0)) })
	pair("cosine_embedding_loss", func(x, y ten) ten { return nn.CosineEmbeddingLoss(x, y, ones(), nn.Margin(0)) })
	triple("gaussian_nll_loss", func(x, y, v ten) ten { return nn.GaussianNLLLoss(x, y, v.Abs()) })
	triple("gaussian_nll_loss full", func(x, y, v ten) ten { return nn.GaussianNLLLoss(x, y, v.Abs(), nn.FullLoss()) })
	triple("triplet_margin_loss swapped", func(x, y, z ten) ten { return nn.TripletMarginLoss(x, y, z, nn.Margin(1), nn.DistanceSwap()) })
	triple("triplet_margin_with_distance_loss", func(x, y, z ten) ten {
		return nn.TripletMarginWithDistanceLoss(x, y, z, nn.DistanceFunction(func(a, b ten) ten { return a.PairwiseDistance(b, 2, 1e-6) }), nn.Margin(1))
	})
	add("binary_cross_entropy_with_logits with pos_weight", func(in []ten) ten {
		return nn.BinaryCrossEntropyWithLogits(in[0], in[1], nn.PosWeight(in[2]))
	}, matrix, matrix, vector)
	add("multilabel_soft_margin_loss weighted", func(in []ten) ten {
		return nn.MultiLabelSoftMarginLoss(in[0], in[1], nn.Weight(in[2]))
	}, matrix, matrix, vector)
	return all
}

func attentionVariants() []opCall {
	attend := func(o []nn.Option) func(in []ten) ten {
		return func(in []ten) ten { return nn.ScaledDotProductAttention(in[0], in[1], in[2], o...) }
	}
	one := func(name string, f func(x ten) ten) opCall {
		return several(name, makes(cube), func(in []ten) ten { return f(in[0]) })
	}
	return []opCall{
		several("scaled_dot_product_attention causal", makes(cube, cube, cube), attend([]nn.Option{nn.IsCausal()})),
		several("scaled_dot_product_attention with a bool mask", makes(cube, cube, cube), attend([]nn.Option{nn.AttnMask(tensor.Ones(side, side).To(tensor.Bool))})),
		several("scaled_dot_product_attention with a mask", makes(cube, cube, cube, matrix), func(in []ten) ten { return attend([]nn.Option{nn.AttnMask(in[3])})(in) }),
		one("MultiheadAttention", func(x ten) ten { return nn.NewMultiheadAttention(side, 2).Forward(x) }),
		one("MultiheadAttention weights", func(x ten) ten {
			return second(nn.NewMultiheadAttention(side, 2).Attend(x, x, x))
		}),
		one("TransformerEncoderLayer", func(x ten) ten { return nn.NewTransformerEncoderLayer(side, 2, nn.DimFeedforward(8)).Forward(x) }),
		one("TransformerDecoderLayer", func(x ten) ten {
			return nn.NewTransformerDecoderLayer(side, 2, nn.DimFeedforward(8)).Forward(x, x)
		}),
	}
}

func otherVariants() (all []opCall) {
	add := func(name string, f func(in []ten) ten, shapes ...[]int) {
		all = append(all, several(name, makes(shapes...), f))
	}
	one := func(name string, f func(x ten) ten, shape []int) {
		add(name, func(in []ten) ten { return f(in[0]) }, shape)
	}
	none := tensor.ScatterReduceOptions{}
	one("gelu tanh", ten.GELUTanh, vector)
	one("softplus sharp", func(x ten) ten { return x.SoftplusWith(2, 10) }, vector)
	one("threshold", func(x ten) ten { return x.Threshold(.1, 2) }, vector)
	one("rrelu in training", func(x ten) ten { return tensor.RReLU(x, .1, .3, true) }, vector)
	one("dropout1d", func(x ten) ten { return nn.NewDropout1d(.5).Forward(x) }, cube)
	one("dropout2d", func(x ten) ten { return nn.NewDropout2d(.5).Forward(x) }, image)
	one("feature_alpha_dropout", func(x ten) ten { return tensor.FeatureAlphaDropout(x, .5, true) }, cube)
	one("log_softmax as float16", func(x ten) ten { return x.LogSoftmaxAs(tensor.Float16, 1) }, matrix)
	one("cumprod as float16", func(x ten) ten { return x.CumprodAs(tensor.Float16, 0) }, vector)
	one("nansum as float16", func(x ten) ten { return x.NanSumAs(tensor.Float16) }, vector)
	one("sum of rows as float64", func(x ten) ten { return x.SumAs(tensor.Float64, 1) }, matrix)
	one("embedding_bag mean", func(w ten) ten { return tensor.EmbeddingBag(zeros(2, 3), w, tensor.EmbeddingBagOptions{}) }, matrix)
	one("embedding_bag max", func(w ten) ten { return tensor.EmbeddingBag(zeros(2, 3), w, tensor.EmbeddingBagOptions{Mode: "max"}) }, matrix)
	one("linalg_svd", func(x ten) ten { u, _, _ := x.SVD(); return u }, matrix)
	one("diff 2", func(x ten) ten { return x.Diff(2, 1) }, matrix)
	one("fold", func(x ten) ten { return x.Col2Im([]int{6, 6}, two, tensor.ConvOptions{}) }, []int{2, 8, 25})
	one("affine_grid 3", func(x ten) ten { return x.AffineGrid([]int{1, 1, 2, 2, 2}, false) }, []int{1, 3, 4})
	one("logit with eps", func(x ten) ten { return x.Sigmoid().Logit(1e-3) }, vector)
	one("trapezoid of rows", func(x ten) ten { return x.Trapezoid(1, 1) }, matrix)
	add("prelu of channels", func(in []ten) ten { return in[0].PReLU(in[1]) }, []int{2, 3, 4}, []int{3})
	add("embedding_bag weighted", func(in []ten) ten {
		return tensor.EmbeddingBag(zeros(2, 3), in[0], tensor.EmbeddingBagOptions{Mode: "sum", Weights: in[1]})
	}, matrix, []int{2, 3})
	add("lerp of tensors", func(in []ten) ten { return in[0].LerpTensor(in[1], in[2]) }, vector, vector, vector)
	add("addcmul scaled", func(in []ten) ten { return in[0].Addcmul(in[1], in[2], 2) }, vector, vector, vector)
	add("cat of three", func(in []ten) ten { return tensor.Cat(0, in...) }, vector, vector, vector)
	add("clamp of tensors", func(in []ten) ten { return in[0].ClampTensor(in[1], in[2]) }, vector, vector, vector)
	add("index_put adding", func(in []ten) ten { return in[0].IndexPutAdd(in[1], zeros(1)) }, vector, []int{1})
	add("scatter_reduce amax", func(in []ten) ten { return in[0].ScatterReduce(0, zeros(side, side), in[1], "amax", none) }, matrix, matrix)
	add("scatter_reduce mean", func(in []ten) ten { return in[0].ScatterReduce(0, zeros(side, side), in[1], "mean", none) }, matrix, matrix)
	add("linalg_solve of a vector", func(in []ten) ten { return in[0].Solve(in[1]) }, matrix, vector)
	add("linalg_solve of a batch", func(in []ten) ten { return in[0].Solve(in[1]) }, cube, cube)
	return all
}
