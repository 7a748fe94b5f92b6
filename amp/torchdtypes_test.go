package amp_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// torchCalls returns the calls of testdata/dtypes.py that opCalls lacks: operations that are not on any
// list, and functions composed of several operations. Methods of the same name that take one vector or two are left out.
func torchCalls() []opCall {
	var all []opCall
	unaries := map[string]func(x ten) ten{
		"logit": func(x ten) ten { return x.Logit(0) }, "mean": func(x ten) ten { return x.Mean() }, "std": func(x ten) ten { return x.Std() },
		"var": func(x ten) ten { return x.Var() }, "amax": func(x ten) ten { return x.Amax() }, "amin": func(x ten) ten { return x.Amin() },
		"nansum": func(x ten) ten { return x.NanSum() }, "nanmean": func(x ten) ten { return x.NanMean() }, "argmax": func(x ten) ten { return x.Argmax() },
		"trapezoid": func(x ten) ten { return x.Trapezoid(1, 0) }, "celu": func(x ten) ten { return x.CELU(1) }, "elu": func(x ten) ten { return x.ELU(1) },
		"hardshrink": func(x ten) ten { return x.Hardshrink(.5) }, "hardtanh": func(x ten) ten { return x.Hardtanh(-1, 1) },
		"leaky_relu": func(x ten) ten { return x.LeakyReLU(.01) }, "rrelu": func(x ten) ten { return tensor.RReLU(x, .1, .3, false) },
		"softshrink": func(x ten) ten { return x.Softshrink(.5) }, "glu": func(x ten) ten { return x.GLU(0) }, "softmin": func(x ten) ten { return x.Softmin(0) },
		"dropout": func(x ten) ten { return tensor.Dropout(x, .5, true) }, "alpha_dropout": func(x ten) ten { return tensor.AlphaDropout(x, .5, true) },
		"masked_fill": func(x ten) ten { return x.MaskedFill(x.GtScalar(0), 1) }, "clamp": func(x ten) ten { return x.Clamp(-1, 1) },
		"cummax":       func(x ten) ten { y, _ := x.Cummax(0); return y },
		"logcumsumexp": func(x ten) ten { return x.LogCumsumExp(0) }, "index_fill": func(x ten) ten { return x.IndexFill(0, tensor.FromInts([]int{0}), 1) },
		"flip": func(x ten) ten { return x.Flip(0) }, "roll": func(x ten) ten { return x.Roll(1, 0) }, "sort": func(x ten) ten { y, _ := x.Sort(0); return y },
		"topk": func(x ten) ten { y, _ := x.TopK(2, 0); return y }, "median": func(x ten) ten { y, _ := x.Median(0); return y },
		"diff": func(x ten) ten { return x.Diff(1, 0) }, "mul by a number": func(x ten) ten { return x.MulScalar(.7) },
		"rdiv": func(x ten) ten { return x.RDivScalar(1) }, "rpow": func(x ten) ten { return x.RPow(2) }, "pow of a number": func(x ten) ten { return x.Pow(2) },
		"var_mean": func(x ten) ten { y, _ := x.VarMean(); return y }, "sum as float16": func(x ten) ten { return x.SumAs(tensor.Float16) },
		"prod as float16": func(x ten) ten { return x.ProdAs(tensor.Float16) }, "softmax as float16": func(x ten) ten { return x.SoftmaxAs(tensor.Float16, 0) },
		"cumsum as float16": func(x ten) ten { return x.CumsumAs(tensor.Float16, 0) }, "mean as float16": func(x ten) ten { return x.MeanAs(tensor.Float16) },
		"polygamma": func(x ten) ten { return x.Polygamma(1) },
		"nanmedian": func(x ten) ten { y, _ := x.NanMedian(0); return y }, "unique_consecutive": func(x ten) ten { y, _, _ := x.UniqueConsecutive(); return y },
		"cumulative_trapezoid": func(x ten) ten { return x.CumulativeTrapezoid(1, 0) },
		"norm as float16":      func(x ten) ten { return x.NormWith(2, tensor.PNormOptions{DType: tensor.Float16}) },
	}
	for name, f := range unaries {
		all = append(all, unary(name, nil, f))
	}
	for name, f := range map[string]func(x, y ten) ten{
		"true_divide": ten.Div,
		"hstack":      func(x, y ten) ten { return tensor.HStack(x, y) }, "where": func(x, y ten) ten { return x.GtScalar(0).Where(x, y) },
		"lerp": func(x, y ten) ten { return x.Lerp(y, .5) },
	} {
		all = append(all, binary(name, makes(vector, vector), f))
	}
	images, volumes, zero := makes([]int{2, 2, 6, 6}), makes([]int{1, 1, 4, 4, 4}), func(shape ...int) ten { return tensor.Zeros(shape...).Long() }
	two := []int{2}
	one := func(name string, in func() []ten, f func(x ten) ten) {
		all = append(all, several(name, in, func(in []ten) ten { return f(in[0]) }))
	}
	pair := func(name string, in func() []ten, f func(x, y ten) ten) { all = append(all, binary(name, in, f)) }
	one("normalize", makes(matrix), func(x ten) ten { return nn.Normalize(x) })
	one("cross_entropy", makes(matrix), func(x ten) ten { return nn.CrossEntropy(x, classes()) })
	pair("cross_entropy of probabilities", makes(matrix, matrix), func(x, y ten) ten { return nn.CrossEntropy(x, y) })
	pair("grid_sample", makes([]int{2, 2, 6, 6}, []int{2, 3, 3, 2}), func(x, y ten) ten { return x.GridSample(y, tensor.GridSampleOptions{}) })
	one("interpolate nearest", images, func(x ten) ten { return x.Interpolate(tensor.InterpolateOptions{Size: []int{5}}) })
	one("interpolate bilinear", images, func(x ten) ten { return x.Interpolate(tensor.InterpolateOptions{Size: []int{5}, Mode: "bilinear"}) })
	one("linalg_svdvals", makes(matrix), ten.SVDVals)
	one("linalg_det", makes(matrix), ten.Det)
	one("tril", makes(matrix), func(x ten) ten { return x.Tril(0) })
	one("triu", makes(matrix), func(x ten) ten { return x.Triu(0) })
	pair("kron", makes([]int{2, 2}, []int{2, 2}), ten.Kron)
	one("linalg_matrix_power", makes(matrix), func(x ten) ten { return x.MatrixPower(3) })
	one("rms_norm", makes(matrix), func(x ten) ten { return tensor.RMSNorm(x, vector, nil, tensor.NormOptions{}) })
	pair("rms_norm with weight", makes(matrix, vector), func(x, w ten) ten { return tensor.RMSNorm(x, vector, w, tensor.NormOptions{}) })
	all = append(all, several("layer_norm with weight", makes(matrix, vector, vector), func(in []ten) ten {
		return tensor.LayerNorm(in[0], vector, in[1], in[2], tensor.NormOptions{})
	}), several("batch_norm", makes(matrix, vector, vector), func(in []ten) ten {
		return tensor.BatchNorm(in[0], nil, nil, in[1], in[2], tensor.BatchNormOptions{Training: true})
	}))
	one("instance_norm", makes(cube), func(x ten) ten {
		return tensor.InstanceNorm(x, nil, nil, nil, nil, tensor.BatchNormOptions{Training: true})
	})
	one("local_response_norm", makes(cube), func(x ten) ten { return nn.LocalResponseNorm(x, 2) })
	one("embedding", makes(matrix), func(w ten) ten { return tensor.Embedding(zero(3), w, tensor.EmbeddingOptions{}) })
	one("embedding_bag", makes(matrix), func(w ten) ten { return tensor.EmbeddingBag(zero(2, 3), w, tensor.EmbeddingBagOptions{Mode: "sum"}) })
	one("avg_pool1d", makes(cube), func(x ten) ten { return nn.AvgPool1d(x, 2) })
	one("avg_pool2d", images, func(x ten) ten { return nn.AvgPool2d(x, 2) })
	one("max_pool1d", makes(cube), func(x ten) ten { return nn.MaxPool1d(x, 2) })
	one("max_pool2d", images, func(x ten) ten { return nn.MaxPool2d(x, 2) })
	one("adaptive_avg_pool2d", images, func(x ten) ten { return nn.AdaptiveAvgPool2d(x, 2) })
	one("adaptive_avg_pool3d", volumes, func(x ten) ten { return nn.AdaptiveAvgPool3d(x, 2) })
	one("adaptive_max_pool2d", images, func(x ten) ten { return nn.AdaptiveMaxPool2d(x, 2) })
	one("adaptive_max_pool3d", volumes, func(x ten) ten { return nn.AdaptiveMaxPool3d(x, 2) })
	one("lp_pool1d", makes(cube), func(x ten) ten { return nn.LPPool1d(x, 2, 2) })
	for name, mode := range map[string]string{"pad": "constant", "pad reflect": "reflect", "pad replicate": "replicate", "pad circular": "circular"} {
		one(name, makes(cube), func(x ten) ten { return x.Pad([]int{1, 1}, tensor.PadOptions{Mode: mode}) })
	}
	one("pixel_shuffle", makes([]int{1, 4, 2, 2}), func(x ten) ten { return x.PixelShuffle(2) })
	one("unfold", images, func(x ten) ten { return x.Im2Col(two, tensor.ConvOptions{}) })
	one("affine_grid", makes([]int{1, 2, 3}), func(x ten) ten { return x.AffineGrid([]int{1, 1, 2, 2}, false) })
	one("gather", makes(matrix), func(x ten) ten { return x.Gather(0, zero(side, side)) })
	one("index_select", makes(matrix), func(x ten) ten { return x.IndexSelect(0, zero(3)) })
	one("take", makes(matrix), func(x ten) ten { return x.Take(zero(3)) })
	pair("index_add", makes(vector, []int{1}), func(x, y ten) ten { return x.IndexAdd(0, zero(1), y, 1) })
	pair("scatter", makes(matrix, matrix), func(x, y ten) ten { return x.Scatter(0, zero(side, side), y) })
	pair("scatter_reduce", makes(matrix, matrix), func(x, y ten) ten {
		return x.ScatterReduce(0, zero(side, side), y, "sum", tensor.ScatterReduceOptions{})
	})
	one("cov", makes(matrix), ten.Cov)
	one("corrcoef", makes(matrix), ten.Corrcoef)
	one("linalg_eigvalsh", makes(matrix), ten.EigvalsH)
	one("linalg_slogdet", makes(matrix), func(x ten) ten { _, y := x.SlogDet(); return y })
	one("linalg_lu_factor", makes(matrix), func(x ten) ten { lu, _ := x.LUFactor(); return lu })
	one("linalg_matrix_exp", makes(matrix), ten.MatrixExp)
	one("linalg_cond fro", makes(matrix), func(x ten) ten { return x.Cond("fro") })
	pair("linalg_lu_solve", makes(matrix, matrix), func(x, y ten) ten { return x.LUSolve(tensor.Ones(side).To(tensor.Int32), y) })
	one("linalg_solve_triangular", makes(matrix), func(x ten) ten { return x.SolveTriangular(x, true, tensor.TriangularOptions{}) })
	pair("isin", makes(vector, vector), ten.IsIn)
	pair("pairwise_distance", makes(matrix, matrix), func(x, y ten) ten { return x.PairwiseDistance(y, 2, 1e-6) })
	pair("multilabel_soft_margin_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.MultiLabelSoftMarginLoss(x, y) })
	pair("linear of a transpose", makes(matrix, matrix), func(x, y ten) ten { return tensor.Linear(x, y.T(), nil) })
	pair("matmul of three dimensions", makes(cube, cube), ten.MatMul)
	pair("hinge_embedding_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.HingeEmbeddingLoss(x, y, nn.Margin(1)) })
	pair("soft_margin_loss", makes(matrix, matrix), func(x, y ten) ten { return nn.SoftMarginLoss(x, y) })
	return all
}

// otherThanTorch maps functions whose dtypes differ from torch's to the reason.
var otherThanTorch = map[string]string{
	"linalg_matrix_exp": "torch composes it of cat, which rejects a 16-bit dtype other than the region's on the CPU",
	"roll":              "torch composes it of cat, which rejects a 16-bit dtype other than the region's on the CPU; moving elements loses nothing",
}

// TestTorchDTypes compares the dtypes of functions under autocast with PyTorch 2.15's in
// testdata/dtypes.json, for operations on torch's lists and for others. If a function of torch fails for
// a reason other than autocast, any dtype is accepted.
func TestTorchDTypes(t *testing.T) {
	text, err := os.ReadFile("testdata/dtypes.json")
	if err != nil {
		t.Fatal(err)
	}
	var torch struct {
		Mix      [][2]string
		Policies map[string]map[string]string
	}
	if err := json.Unmarshal(text, &torch); err != nil {
		t.Fatal(err)
	}
	dtypes := map[string]tensor.DType{}
	for _, d := range tensor.DTypes() {
		dtypes[d.String()] = d
	}
	calls := map[string]opCall{}
	for _, c := range slices.Concat(torchCalls(), variantCalls(), opCalls()) {
		if _, there := calls[c.op]; !there {
			calls[c.op] = c
		}
	}
	for _, p := range []amp.Policy{amp.Float16, amp.BFloat16, amp.CPUBFloat16, amp.CPUFloat16} {
		answers := torch.Policies[p.String()]
		if len(answers) < 200 {
			t.Fatalf("%v: got %d functions in testdata/dtypes.json", p, len(answers))
		}
		for _, c := range variantCalls() {
			if answers[c.op] == "" {
				t.Errorf("%v: %s is not in testdata/dtypes.json: add it to dtypes_variants.py", p, c.op)
			}
		}
		for name, list := range answers {
			c, ok := calls[name]
			if f, is := testenv.Method[func(x ten) ten](name); is && !ok {
				c, ok = unary(name, nil, f), true
			} else if f, is := testenv.Method[func(x, y ten) ten](name); is && !ok {
				c, ok = binary(name, makes(vector, vector), f), true
			}
			if !ok {
				t.Errorf("%s has no call in this test", name)
				continue
			}
			for i, want := range strings.Fields(list) {
				if want == "-" || want == "error" {
					continue
				}
				in := c.in()
				n := 0
				for j, x := range in {
					if x.DType().IsFloat() {
						in[j] = x.To(dtypes[torch.Mix[i][min(n, 1)]])
						n++
					}
				}
				var got string
				var e *amp.Error
				if err := try(func() { amp.Autocast(p, func() { got = c.forms[0](in).DType().String() }) }); errors.As(err, &e) {
					got = "refused"
				} else if err != nil {
					got = err.Error()
				}
				if got != want && (otherThanTorch[name] == "" || want != "refused") {
					t.Errorf("%v: %s of %v: got %s, want %s", p, name, torch.Mix[i], got, want)
				}
			}
		}
	}
}
