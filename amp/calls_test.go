package amp_test

import (
	"math"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// ten shortens the table.
type ten = *tensor.Tensor

// opCall is a sample call of an operation on float32 operands, with integers for positions and
// classes. The sizes are those of torch's own tests of autocast.
type opCall struct {
	op    string // name on torch's lists, or the name of the substitute here
	in    func() []ten
	forms []func(in []ten) ten // ways to write the call, with equal results
}

// n is the size that torch's tests use.
const side = 8

// makes returns a function that makes normal operands of the given shapes, equal at every call.
func makes(shapes ...[]int) func() []ten {
	return makesBy(func(x ten) ten { return x }, shapes...)
}

// makesBy is makes with the first operand mapped by f into an operation's domain.
func makesBy(f func(x ten) ten, shapes ...[]int) func() []ten {
	return func() []ten {
		g := tensor.NewGenerator(int64(len(shapes)) + 3)
		var in []ten
		for i, s := range shapes {
			x := g.Randn(s...)
			if i == 0 {
				x = f(x)
			}
			in = append(in, x)
		}
		return in
	}
}

// with appends fixed operands to those of f.
func with(f func() []ten, more ...ten) func() []ten {
	return func() []ten { return append(f(), more...) }
}

func within(lo, hi float64) func(x ten) ten {
	return func(x ten) ten { return x.Clamp(lo, hi) }
}

var (
	vector = []int{side}
	matrix = []int{side, side}
	cube   = []int{side, side, side}
	four   = []int{side, side, side, side}
	five   = []int{4, 4, 4, 4, 4} // torch's size is 8, which takes 32 times as long
)

func unary(op string, domain func(x ten) ten, forms ...func(x ten) ten) opCall {
	if domain == nil {
		domain = func(x ten) ten { return x }
	}
	c := opCall{op: op, in: makesBy(domain, vector)}
	for _, f := range forms {
		c.forms = append(c.forms, func(in []ten) ten { return f(in[0]) })
	}
	return c
}

// loss returns a loss function of package nn without its options.
func loss(f func(x, target ten, options ...nn.Option) ten) func(x, y ten) ten {
	return func(x, y ten) ten { return f(x, y) }
}

func binary(op string, in func() []ten, forms ...func(x, y ten) ten) opCall {
	c := opCall{op: op, in: in}
	for _, f := range forms {
		c.forms = append(c.forms, func(in []ten) ten { return f(in[0], in[1]) })
	}
	return c
}

func several(op string, in func() []ten, forms ...func(in []ten) ten) opCall {
	return opCall{op, in, forms}
}

// of3 returns the third operand of a call, or nil.
func of3(in []ten) ten {
	if len(in) > 2 {
		return in[2]
	}
	return nil
}

var (
	classes   = func() ten { return tensor.Zeros(side).Long() }
	oneHots   = func() ten { return tensor.Ones(side, side).Long() }
	positions = func() ten { return tensor.FromInts([]int{0, 1, 1, 0, 1, 0, 0, 1}, 2, 2, 2) }
)

// opCalls returns sample calls of all operations on torch's lists that exist here. Calls with the same name
// are overloads.
func opCalls() []opCall {
	none, transposed := tensor.ConvOptions{}, tensor.ConvTransposeOptions{}
	plain, one := tensor.PNormOptions{}, tensor.PNormOptions{Dims: []int{0}}
	pool := []nn.Option{nn.Stride(1)}
	resized := func(op string, in func() []ten, o tensor.InterpolateOptions) opCall {
		o.Size = []int{5}
		return several(op, in, func(in []ten) ten { return in[0].Interpolate(o) })
	}
	reflected := func(op, mode string, shape []int) opCall {
		pad := []int{1, 1, 1, 1, 1, 1}[:2*(len(shape)-2)]
		return several(op, makes(shape), func(in []ten) ten { return in[0].Pad(pad, tensor.PadOptions{Mode: mode}) })
	}
	cell := func(op string, chunks int, f func(x, h, wi, wh, bi, bh ten) ten) opCall {
		return several(op, makes(matrix, matrix, []int{chunks * side, side}, []int{chunks * side, side}, []int{chunks * side}, []int{chunks * side}),
			func(in []ten) ten { return f(in[0], in[1], in[2], in[3], in[4], in[5]) })
	}
	line, plane, volume := makes([]int{2, 2, 6}), makes([]int{2, 2, 6, 6}), makes([]int{1, 2, 4, 4, 4})
	return []opCall{
		// lower_precision_fp
		several("conv1d", makes(cube, cube), func(in []ten) ten { return tensor.Conv1d(in[0], in[1], of3(in), none) }),
		several("conv2d", makes(four, four), func(in []ten) ten { return tensor.Conv2d(in[0], in[1], of3(in), none) }),
		several("conv2d", makes(four, four, vector), func(in []ten) ten { return tensor.Conv2d(in[0], in[1], of3(in), none) }),
		several("conv3d", makes(five, five), func(in []ten) ten { return tensor.Conv3d(in[0], in[1], of3(in), none) }),
		several("conv_tbc", makes(cube, cube, vector), func(in []ten) ten { return tensor.ConvTBC(in[0], in[1], in[2], 0) }),
		several("conv_tbc", makes([]int{10, 7, 3}, []int{5, 3, 5}, []int{5}), func(in []ten) ten { return tensor.ConvTBC(in[0], in[1], in[2], 0) }),
		several("conv_transpose1d", makes(cube, cube), func(in []ten) ten { return tensor.ConvTranspose1d(in[0], in[1], nil, transposed) }),
		several("conv_transpose2d", makes(four, four), func(in []ten) ten { return tensor.ConvTranspose2d(in[0], in[1], nil, transposed) }),
		several("conv_transpose3d", makes(five, five), func(in []ten) ten { return tensor.ConvTranspose3d(in[0], in[1], nil, transposed) }),
		binary("prelu", makes(vector, []int{1}), ten.PReLU),
		several("addmm", makes(matrix, matrix, matrix), func(in []ten) ten { return in[0].AddMM(in[1], in[2], tensor.AddMMOptions{}) }),
		several("addmv", makes(vector, matrix, vector), func(in []ten) ten { return in[0].AddMV(in[1], in[2], tensor.AddMMOptions{}) }),
		several("addr", makes(matrix, vector, vector), func(in []ten) ten { return in[0].AddR(in[1], in[2], tensor.AddMMOptions{}) }),
		binary("matmul", makes(matrix, matrix), ten.MatMul),
		several("einsum", makes(four, four), func(in []ten) ten { return tensor.Einsum("bkhd,bqhd->bqkh", in...) }),
		binary("mm", makes(matrix, matrix), ten.MM),
		binary("mv", makes(matrix, vector), ten.MV),
		binary("linalg_vecdot", makes(matrix, matrix), func(x, y ten) ten { return x.VecDot(y, -1) }),
		several("linear", makes(matrix, matrix, vector), func(in []ten) ten { return tensor.Linear(in[0], in[1], in[2]) }),
		several("linear", makes(matrix, matrix), func(in []ten) ten { return tensor.Linear(in[0], in[1], nil) }),
		several("addbmm", makes(matrix, cube, cube), func(in []ten) ten { return in[0].AddBMM(in[1], in[2], tensor.AddMMOptions{}) }),
		several("baddbmm", makes(cube, cube, cube), func(in []ten) ten { return in[0].BAddBMM(in[1], in[2], tensor.AddMMOptions{}) }),
		binary("bmm", makes(cube, cube), ten.BMM),
		several("chain_matmul", makes(matrix, matrix, matrix), func(in []ten) ten { return tensor.ChainMatMul(in...) }),
		several("linalg_multi_dot", makes(matrix, matrix, matrix), func(in []ten) ten { return tensor.MultiDot(in...) }),
		several("lstm_cell", makes(matrix, matrix, matrix, []int{4 * side, side}, []int{4 * side, side}, []int{4 * side}, []int{4 * side}), func(in []ten) ten {
			h, c := tensor.LSTMCell(in[0], in[1], in[2], in[3], in[4], in[5], in[6])
			return tensor.Stack(0, h, c)
		}),
		several("lstm", makes(matrix, matrix, matrix, []int{4 * side, side}, []int{4 * side, side}, []int{4 * side}, []int{4 * side}), func(in []ten) ten {
			h, c := tensor.LSTMStep(in[0], in[1], in[2], in[3], in[4], in[5], in[6])
			return tensor.Stack(0, h, c)
		}),
		cell("gru_cell", 3, tensor.GRUCell),
		cell("rnn_tanh_cell", 1, tensor.RNNTanhCell),
		cell("rnn_relu_cell", 1, tensor.RNNReLUCell),
		several("scaled_dot_product_attention", makes(cube, cube, cube), func(in []ten) ten {
			return nn.ScaledDotProductAttention(in[0], in[1], in[2])
		}),

		// fp32
		unary("acos", within(-.9, .9), ten.Acos),
		unary("asin", within(-.9, .9), ten.Asin),
		unary("cosh", nil, ten.Cosh),
		unary("erfinv", within(-.9, .9), ten.Erfinv),
		unary("exp", nil, ten.Exp),
		unary("expm1", nil, ten.Expm1),
		unary("log", within(.1, 100), ten.Log),
		unary("log10", within(.1, 100), ten.Log10),
		unary("log2", within(.1, 100), ten.Log2),
		unary("log1p", within(-.9, 100), ten.Log1p),
		unary("reciprocal", nil, ten.Reciprocal),
		unary("reciprocal", nil, func(x ten) ten { return x.RDivScalar(1) }),
		unary("rsqrt", within(.1, 100), ten.Rsqrt),
		unary("sinh", nil, ten.Sinh),
		unary("tan", within(-1.5, 1.5), ten.Tan),
		binary("pow", makesBy(within(.1, 100), vector, vector), ten.PowTensor),
		unary("pow", within(.1, 100), func(x ten) ten { return x.Pow(1.7) }),
		unary("pow", nil, func(x ten) ten { return x.RPow(1.7) }),
		unary("softplus", nil, ten.Softplus, nn.NewSoftplus(1, 20).Forward),
		unary("layer_norm", nil, func(x ten) ten { return tensor.LayerNorm(x, vector, nil, nil, tensor.NormOptions{}) }),
		several("layer_norm", makes(matrix, vector, vector), func(in []ten) ten { return tensor.LayerNorm(in[0], vector, in[1], in[2], tensor.NormOptions{}) }),
		several("group_norm", makes(matrix), func(in []ten) ten { return tensor.GroupNorm(in[0], 1, nil, nil, tensor.NormOptions{}) }),
		several("frobenius_norm", makes(matrix), func(in []ten) ten { return in[0].FrobeniusNorm(plain) }),
		several("nuclear_norm", makes(matrix), func(in []ten) ten { return in[0].NuclearNorm(plain) }),
		binary("cosine_similarity", makes(matrix, matrix), func(x, y ten) ten { return x.CosineSimilarity(y, 1, 1e-8) }),
		binary("poisson_nll_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.PoissonNLLLoss(x, y) }, loss(nn.PoissonNLLLoss)),
		several("cosine_embedding_loss", with(makes([]int{1, 3}, []int{1, 3}), tensor.FromInts([]int{1})), func(in []ten) ten {
			return nn.CosineEmbeddingLoss(in[0], in[1], in[2], nn.Margin(0))
		}),
		binary("nll_loss", with(makes(matrix), classes()), func(x, y ten) ten { return nn.NLLLoss(x, y) }, loss(nn.NLLLoss)),
		binary("nll_loss2d", with(makes(four), tensor.Zeros(side, side, side).Long()), func(x, y ten) ten { return nn.NLLLoss(x, y) }, loss(nn.NLLLoss)),
		binary("hinge_embedding_loss", with(makes(matrix), oneHots()), func(x, y ten) ten { return nn.HingeEmbeddingLoss(x, y, nn.Margin(1)) }, loss(nn.HingeEmbeddingLoss)),
		binary("kl_div", makes(matrix, matrix), func(x, y ten) ten { return nn.KLDiv(x, y) }, loss(nn.KLDiv)),
		binary("l1_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.L1Loss(x, y) }, loss(nn.L1Loss)),
		binary("smooth_l1_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.SmoothL1Loss(x, y, nn.Beta(1)) }, loss(nn.SmoothL1Loss)),
		binary("huber_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.HuberLoss(x, y, nn.Delta(1)) }, loss(nn.HuberLoss)),
		binary("mse_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.MSELoss(x, y) }, loss(nn.MSELoss)),
		several("margin_ranking_loss", makes(matrix, matrix, matrix), func(in []ten) ten { return nn.MarginRankingLoss(in[0], in[1], in[2], nn.Margin(0)) }),
		binary("multilabel_margin_loss", with(makes(matrix), oneHots()), func(x, y ten) ten { return nn.MultiLabelMarginLoss(x, y) }, loss(nn.MultiLabelMarginLoss)),
		binary("soft_margin_loss", with(makes(matrix), oneHots()), func(x, y ten) ten { return nn.SoftMarginLoss(x, y) }, loss(nn.SoftMarginLoss)),
		several("triplet_margin_loss", makes(matrix, matrix, matrix), func(in []ten) ten { return nn.TripletMarginLoss(in[0], in[1], in[2], nn.Margin(1)) }),
		binary("multi_margin_loss", with(makes(matrix), tensor.Ones(side).Long()), func(x, y ten) ten { return nn.MultiMarginLoss(x, y, nn.Margin(1)) }, loss(nn.MultiMarginLoss)),
		binary("binary_cross_entropy_with_logits", makes(matrix, matrix), func(x, y ten) ten { return nn.BinaryCrossEntropyWithLogits(x, y) }, loss(nn.BinaryCrossEntropyWithLogits)),
		several("ctc_loss", with(makes(cube), tensor.Ones(side, 2).Long(), tensor.Full(side, side).Long(), tensor.Ones(side).Long()), func(in []ten) ten {
			return nn.CTCLoss(in[0], in[1], in[2], in[3])
		}, func(in []ten) ten { return nn.CTCLoss(in[0], in[1], in[2], in[3]) }),
		binary("dist", makes(vector, vector), func(x, y ten) ten { return x.Dist(y, 2) }),
		several("pdist", makes(matrix), func(in []ten) ten { return in[0].PDist(2) }),
		binary("cdist", makes(matrix, matrix), func(x, y ten) ten { return x.CDist(y, 2) }),
		several("renorm", makes(matrix), func(in []ten) ten { return in[0].Renorm(2, 0, 1) }),
		several("logsumexp", makes(matrix), func(in []ten) ten { return in[0].LogSumExp(1) }),
		resized("upsample_nearest1d", line, tensor.InterpolateOptions{}),
		resized("upsample_nearest2d", plane, tensor.InterpolateOptions{}),
		resized("upsample_nearest3d", volume, tensor.InterpolateOptions{}),
		resized("_upsample_nearest_exact1d", line, tensor.InterpolateOptions{Mode: "nearest-exact"}),
		resized("_upsample_nearest_exact2d", plane, tensor.InterpolateOptions{Mode: "nearest-exact"}),
		resized("_upsample_nearest_exact3d", volume, tensor.InterpolateOptions{Mode: "nearest-exact"}),
		resized("upsample_linear1d", line, tensor.InterpolateOptions{Mode: "linear"}),
		resized("upsample_bilinear2d", plane, tensor.InterpolateOptions{Mode: "bilinear"}),
		resized("_upsample_bilinear2d_aa", plane, tensor.InterpolateOptions{Mode: "bilinear", Antialias: true}),
		resized("upsample_trilinear3d", volume, tensor.InterpolateOptions{Mode: "trilinear"}),
		resized("upsample_bicubic2d", plane, tensor.InterpolateOptions{Mode: "bicubic"}),
		resized("_upsample_bicubic2d_aa", plane, tensor.InterpolateOptions{Mode: "bicubic", Antialias: true}),

		// fp32 unless the caller names a dtype
		unary("prod", nil, func(x ten) ten { return x.Prod() }),
		unary("prod", nil, func(x ten) ten { return x.Prod(0) }),
		unary("softmax", nil, func(x ten) ten { return x.Softmax(0) }, nn.NewSoftmax(0).Forward),
		unary("softmax", nil, func(x ten) ten { return x.Softmin(0) }, nn.NewSoftmin(0).Forward),
		unary("log_softmax", nil, func(x ten) ten { return x.LogSoftmax(0) }, nn.NewLogSoftmax(0).Forward),
		unary("cumprod", nil, func(x ten) ten { return x.Cumprod(0) }),
		unary("cumsum", nil, func(x ten) ten { return x.Cumsum(0) }),
		unary("linalg_vector_norm", nil, func(x ten) ten { return x.VectorNorm(2, plain) }),
		several("linalg_matrix_norm", makes(matrix), func(in []ten) ten { return in[0].MatrixNorm("fro", plain) }),
		several("linalg_matrix_norm", makes(matrix), func(in []ten) ten { return in[0].MatrixNorm("nuc", plain) }),
		unary("sum", nil, func(x ten) ten { return x.Sum() }),
		several("sum", makes(matrix), func(in []ten) ten { return in[0].Sum(1) }),
		unary("norm", nil, func(x ten) ten { return x.Norm() }),
		unary("norm", nil, func(x ten) ten { return x.Norm(0) }),
		unary("norm", nil, func(x ten) ten { return x.NormWith(1, plain) }),
		unary("norm", nil, func(x ten) ten { return x.NormWith(1, one) }),
		several("norm", makes(matrix), func(in []ten) ten { return nn.Normalize(in[0]) }),

		// promote
		several("addcdiv", with(makes(vector, vector), tensor.NewGenerator(5).Uniform(.1, 3, side)), func(in []ten) ten { return in[0].Addcdiv(in[1], in[2], 1) }),
		several("addcmul", makes(vector, vector, vector), func(in []ten) ten { return in[0].Addcmul(in[1], in[2], 1) }),
		binary("atan2", makes(vector, vector), ten.Atan2),
		several("bilinear", makes([]int{1, 2}, []int{1, 2}, []int{1, 2, 2}, []int{1}), func(in []ten) ten { return tensor.Bilinear(in[0], in[1], in[2], in[3]) }),
		binary("cross", makes([]int{3}, []int{3}), func(x, y ten) ten { return x.Cross(y, -1) }),
		binary("dot", makes(vector, vector), ten.Dot),
		binary("vdot", makes(vector, vector), ten.VDot),
		binary("grid_sampler", makes([]int{2, 3, 33, 22}, []int{2, 22, 11, 2}), func(x, y ten) ten { return x.GridSample(y, tensor.GridSampleOptions{}) }),
		binary("index_put", makes(vector, []int{1}), func(x, y ten) ten { return x.IndexPut(y, tensor.FromInts([]int{1})) }),
		binary("tensordot", makes([]int{2, 2, 2}, []int{2, 2, 2}), func(x, y ten) ten { return x.TensorDot(y, []int{1, 2}, []int{0, 1}) }),
		binary("scatter_add", makes([]int{2, 2, 2}, []int{2, 2, 2}), func(x, y ten) ten { return x.ScatterAdd(0, positions(), y) }),
		binary("cat", makes(vector, vector), func(x, y ten) ten { return tensor.Cat(0, x, y) }, func(x, y ten) ten { return tensor.HStack(x, y) }),
		binary("stack", makes(vector, vector), func(x, y ten) ten { return tensor.Stack(0, x, y) }),
		binary("index_copy", makes(vector, []int{1}), func(x, y ten) ten { return x.IndexCopy(0, tensor.FromInts([]int{1}), y) }),

		// banned, in CUDA's lists
		binary("binary_cross_entropy", func() []ten {
			g := tensor.NewGenerator(4)
			return []ten{g.Rand(side, side), g.Rand(side, side)}
		}, func(x, y ten) ten { return nn.BinaryCrossEntropy(x, y) }, loss(nn.BinaryCrossEntropy)),

		// in the CPU's lists only
		several("avg_pool3d", makes([]int{1, 4, 4, 4, 4}), func(in []ten) ten { return nn.AvgPool3d(in[0], 3, pool...) }),
		several("max_pool3d", makes([]int{1, 4, 4, 4, 4}), func(in []ten) ten { return nn.MaxPool3d(in[0], 3, pool...) }),
		several("adaptive_avg_pool3d", makes([]int{1, 4, 4, 4, 4}), func(in []ten) ten { return nn.AdaptiveAvgPool3d(in[0], 2) }),
		several("adaptive_max_pool3d", makes([]int{1, 4, 4, 4, 4}), func(in []ten) ten { return nn.AdaptiveMaxPool3d(in[0], 2) }),
		several("max_unpool2d", with(makes([]int{1, 2, 2}), tensor.FromInts([]int{0, 3, 9, 15}, 1, 2, 2)), func(in []ten) ten { return nn.MaxUnpool2d(in[0], in[1], 2) }),
		several("max_unpool2d", with(makes([]int{1, 2, 2}), tensor.FromInts([]int{0, 3, 9, 15}, 1, 2, 2)), func(in []ten) ten { return nn.NewMaxUnpool2d(2).Forward(in[0], in[1]) }),
		several("fractional_max_pool2d", makes(cube), func(in []ten) ten {
			tensor.ManualSeed(1)
			return nn.NewFractionalMaxPool2d(2, nn.OutputSize(3)).Forward(in[0])
		}),
		several("fractional_max_pool3d", makes(four), func(in []ten) ten {
			tensor.ManualSeed(1)
			return nn.NewFractionalMaxPool3d(2, nn.OutputSize(3)).Forward(in[0])
		}),
		reflected("reflection_pad1d", "reflect", cube),
		reflected("reflection_pad2d", "reflect", four),
		reflected("replication_pad1d", "replicate", cube),
		reflected("replication_pad2d", "replicate", four),
		reflected("replication_pad3d", "replicate", []int{2, 2, 3, 3, 3}),
		several("quantile", makes(matrix), func(in []ten) ten { return in[0].Quantile(0.3, 1) }),
		several("nanquantile", makes(matrix), func(in []ten) ten { return in[0].NanQuantile(0.3, 1) }),
		several("linalg_eigh", makes(matrix), func(in []ten) ten { w, _ := in[0].Eigh(); return w }, func(in []ten) ten { return in[0].EigvalsH() }),
		several("linalg_qr", makes(matrix), func(in []ten) ten { _, r := in[0].QR("r"); return r }),
		binary("linalg_lstsq", makes(matrix, matrix), func(x, y ten) ten { s, _, _, _ := x.Lstsq(y, tensor.LstsqOptions{}); return s }),
		several("pinverse", makes(matrix), func(in []ten) ten { return in[0].Pinv(tensor.RankOptions{}) }),
		several("linalg_matrix_rank", makes(matrix), func(in []ten) ten { return in[0].MatrixRank(tensor.RankOptions{}) }),
		several("linalg_cond", makes(matrix), func(in []ten) ten { return in[0].Cond("2") }),
		binary("cholesky_solve", makes(matrix, matrix), func(x, l ten) ten { return x.CholeskySolve(l, false) }),
		several("cholesky_inverse", makes(matrix), func(in []ten) ten { return in[0].CholeskyInverse(false) }),
		several("trace", makes(matrix), func(in []ten) ten { return in[0].Trace() }),
		several("linalg_inv", makes(matrix), func(in []ten) ten { return in[0].Inverse() }),
		binary("linalg_solve", makes(matrix, matrix), ten.Solve),
		several("linalg_cholesky", makesBy(func(x ten) ten { return x.MatMul(x.T()).Add(tensor.Eye(side)) }, matrix), func(in []ten) ten { return in[0].Cholesky() }),
		several("linalg_svd", makes(matrix), func(in []ten) ten {
			_, s, _ := in[0].SVD()
			return s
		}, func(in []ten) ten { return in[0].SVDVals() }),
		binary("cross_entropy_loss", with(makes(matrix), classes()), func(x, y ten) ten { return nn.CrossEntropy(x, y) }, loss(nn.CrossEntropy)),
	}
}

// absentOps maps names on torch's lists without a counterpart here to the reason.
var absentOps = map[string]string{
	"_addmm_activation":               "internal to torch.compile: addmm followed by gelu or relu",
	"_native_multi_head_attention":    "the inference path of nn.MultiheadAttention, which is linear and scaled_dot_product_attention here",
	"polar":                           "there are no complex numbers",
	"view_as_complex":                 "there are no complex numbers",
	"stft":                            "there are no complex numbers",
	"orgqr":                           "there is no such decomposition",
	"ormqr":                           "there is no such decomposition",
	"geqrf":                           "there is no such decomposition",
	"fake_quantize_per_tensor_affine": "there is no quantisation to integers",
	"lu_solve":                        "torch.lu_solve takes torch.lu's results; torch.linalg.lu_solve, which is here, is on no list",
	"_lu_with_info":                   "torch.lu's; torch.linalg.lu_factor, which is here, is on no list",
	"triangular_solve":                "torch.linalg.solve_triangular, which took its place, is on no list",
	"linalg_eigvals":                  "eigenvalues are of symmetric matrices only",
	"linalg_eig":                      "eigenvalues are of symmetric matrices only",
	"linalg_householder_product":      "there is no such decomposition",
	"linalg_tensorinv":                "there is no such operation",
	"linalg_tensorsolve":              "there is no such operation",
	"fft_fft":                         "there are no Fourier transforms",
	"fft_ifft":                        "there are no Fourier transforms",
	"fft_fft2":                        "there are no Fourier transforms",
	"fft_ifft2":                       "there are no Fourier transforms",
	"fft_fftn":                        "there are no Fourier transforms",
	"fft_ifftn":                       "there are no Fourier transforms",
	"fft_rfft":                        "there are no Fourier transforms",
	"fft_irfft":                       "there are no Fourier transforms",
	"fft_rfft2":                       "there are no Fourier transforms",
	"fft_irfft2":                      "there are no Fourier transforms",
	"fft_rfftn":                       "there are no Fourier transforms",
	"fft_irfftn":                      "there are no Fourier transforms",
	"fft_hfft":                        "there are no Fourier transforms",
	"fft_ihfft":                       "there are no Fourier transforms",
}

// standIns maps names on torch's lists to the operations here with the same function.
var standIns = map[string][]string{
	"_convolution":                        {"conv1d", "conv2d", "conv3d"},
	"convolution":                         {"conv1d", "conv2d", "conv3d"},
	"cudnn_convolution":                   {"conv1d", "conv2d", "conv3d"},
	"cudnn_convolution_transpose":         {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"},
	"_thnn_fused_lstm_cell":               {"lstm_cell", "lstm"},
	"_thnn_fused_gru_cell":                {"gru_cell"},
	"_scaled_dot_product_flash_attention": {"scaled_dot_product_attention"},
	"native_layer_norm":                   {"layer_norm"},

	"mkldnn_rnn_layer":               {"lstm"},
	"grid_sampler_2d":                {"grid_sampler"},
	"grid_sampler_3d":                {"grid_sampler"},
	"_grid_sampler_2d_cpu_fallback":  {"grid_sampler"},
	"inverse":                        {"linalg_inv"},
	"linalg_inv_ex":                  {"linalg_inv"},
	"cholesky":                       {"linalg_cholesky"},
	"linalg_cholesky_ex":             {"linalg_cholesky"},
	"svd":                            {"linalg_svd"},
	"linalg_svdvals":                 {"linalg_svd"},
	"linalg_eigvalsh":                {"linalg_eigh"},
	"qr":                             {"linalg_qr"},
	"multilabel_margin_loss_forward": {"multilabel_margin_loss"},
	"max_unpool3d":                   {"max_unpool2d"},

	// names in the tutorials
	"__matmul__":    {"matmul"},
	"GRUCell":       {"gru_cell"},
	"LSTMCell":      {"lstm_cell"},
	"RNNCell":       {"rnn_tanh_cell", "rnn_relu_cell"},
	"multi_dot":     {"linalg_multi_dot"},
	"grid_sample":   {"grid_sampler"},
	"cross_entropy": {"log_softmax", "nll_loss"},
	"softmin":       {"softmax"},
	"normalize":     {"norm"},
}

// sameBits reports whether tensors have equal bits. Unlike Equal it can compare results with NaN.
func sameBits(x, y ten) bool {
	if x.DType() != y.DType() || x.Numel() != y.Numel() {
		return false
	}
	a, b := x.Bits(), y.Bits()
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(x.Reshape(-1).At(i)) && math.IsNaN(y.Reshape(-1).At(i))) {
			return false
		}
	}
	return true
}
