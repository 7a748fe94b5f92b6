package torchtest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
)

// edges are the results of PyTorch where operands are at the edges: family/case → run → result → codes of elements. A run is
// named by the edge and the operands that it changes. See make_edges.py.
type edges struct {
	Torch string
	Cases map[string]map[string]map[string]json.RawMessage
}

func readEdges(t *testing.T) (e edges) {
	f, err := os.Open(filepath.Join("testdata", "edges.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e
}

// openEdges are the operations of which some results at edges differ from PyTorch's and have not been judged: which of the two is right, or
// whether the definition leaves it open.
const openEdges = `
AdaptiveLogSoftmaxWithLoss Bilinear CosineSimilarity GRU LSTM LinearCrossEntropy LinearCrossEntropyLoss MultiheadAttention RNN SpectralNorm
Transformer TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginWithDistanceLoss WeightNorm addbmm addcdiv addmm addmv
baddbmm batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits bmm cdist celu chain chain_matmul cholesky_inverse cholesky_solve
clamp cond conv1d conv2d conv3d conv_tbc conv_transpose2d copysign cosine_embedding_loss cosine_similarity cov cross cross_entropy ctc_loss cumprod
digamma dist dot einsum elu embedding_bag gaussian_nll_loss gelu grid_sampler group_norm gru_cell hardshrink hardsigmoid hardswish hardtanh
hinge_embedding_loss huber_loss instance_norm interpolate kl_div kthvalue layer_norm lerp lgamma linalg_cholesky linalg_det linalg_eigh linalg_inv
linalg_lstsq linalg_lu_factor linalg_lu_solve linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_multi_dot linalg_qr linalg_slogdet
linalg_solve linalg_solve_triangular linalg_svd linalg_vecdot linalg_vector_norm linear logcumsumexp logit lstm_cell margin_ranking_loss matmul
matrix_rank mm mode mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss mv nanmean nll_loss nll_loss2d norm normalize
nuclear_norm pdist pinverse poisson_nll_loss polygamma pow prelu prod quantile relu6 renorm rnn_relu_cell rnn_tanh_cell scaled_dot_product_attention
scatter_reduce selu sinc smooth_l1_loss soft_margin_loss softshrink std std_mean tensordot topk trapezoid triplet_margin_loss unique upsample var
var_mean vdot xlogy
`

// TestEdges compares results and both derivatives of the cases of all families with PyTorch's where operands are zeros, equal, tiny,
// huge or not finite, one operand at a time and all together: the class of each element, its sign and its magnitude.
func TestEdges(t *testing.T) {
	want := readEdges(t)
	share, turn := testenv.Share(t, 8), 0
	files := map[string]*fixtures{}
	open, seen := map[string]bool{}, map[string]bool{}
	for _, op := range strings.Fields(openEdges) {
		open[op] = true
	}
	for _, id := range slices.Sorted(maps.Keys(want.Cases)) {
		family, name, _ := strings.Cut(id, "/")
		f := files[family]
		if f == nil {
			var err error
			if f, err = readFixtures(family); err != nil {
				t.Fatal(err)
			}
			files[family] = f
		}
		at := slices.IndexFunc(f.cases, func(c fixture) bool { return c.Name == name })
		if at < 0 {
			t.Errorf("%s has no case: run make_edges.py", id)
			continue
		}
		for _, run := range slices.Sorted(maps.Keys(want.Cases[id])) {
			if turn++; turn%share != 0 {
				continue
			}
			got, failed := edgeRun(f, f.cases[at], bodyOf(family, f.cases[at]), run)
			op := f.cases[at].op()
			if diff := edgeDifference(got, failed, want.Cases[id][run]); diff != "" && !open[op] {
				t.Errorf("%s, %s: %s", id, run, diff)
			} else if diff != "" {
				t.Logf("open: %s, %s: %s", id, run, diff)
				seen[op] = true
			}
		}
	}
	for op := range open {
		if share == 1 && !seen[op] {
			t.Errorf("%s is listed as open, but agrees everywhere", op)
		}
	}
}

// edgeRun returns the results of a run: y, the gradients g0, g1, … and their gradients h0, h1, …, or the text of a panic as "error".
func edgeRun(f *fixtures, c fixture, body func([]T) T, name string) (results map[string]T, failed string) {
	results = map[string]T{}
	defer func() {
		if p := recover(); p != nil {
			failed = fmt.Sprint(p)
		}
	}()
	r := run{errorf: func(string, ...any) {}, f: f, c: c, dtype: "float32"}
	in := r.operands()
	edge, which, _ := strings.Cut(name, " ")
	for _, s := range strings.Split(which, "+") {
		i, _ := strconv.Atoi(s)
		x := atEdge(in[i].Detach(), edge)
		if in[i].RequiresGrad() {
			x.RequireGrad()
		}
		in[i] = x
	}
	r.each(body, in, func(what string, _ int, got, _ T) { results[what] = got })
	return results, ""
}

var cycle = []float64{0, math.Copysign(0, -1), 1e-40, 0x1p-126, 1, -1, 1e30, -1e30}

// atEdge returns x changed as make_edges.py changes it.
func atEdge(x T, edge string) T {
	first := func(v float64) T {
		y := x.Clone().Reshape(-1)
		if y.Numel() > 0 {
			y.Set(v, 0)
		}
		return y.Reshape(x.Shape()...)
	}
	switch edge {
	case "zeros":
		return tensor.ZerosLike(x)
	case "ones":
		return tensor.OnesLike(x)
	case "equal":
		if x.Numel() == 0 {
			return x.Clone()
		}
		return x.Reshape(-1).Slice(0, 0, 1).Expand(x.Numel()).Clone().Reshape(x.Shape()...)
	case "nan":
		return first(math.NaN())
	case "inf":
		return first(math.Inf(1))
	case "-inf":
		return first(math.Inf(-1))
	case "cycle":
		data := make([]float64, x.Numel())
		for i := range data {
			data[i] = cycle[i%len(cycle)]
		}
		return tensor.NewAs(x.DType(), data, len(data)).Reshape(x.Shape()...)
	}
	factor, err := strconv.ParseFloat(edge, 64)
	if err != nil {
		panic(err)
	}
	return x.MulScalar(factor)
}

// Codes of elements, as in make_edges.py.
const (
	codeNaN      = 9999
	codeInfinity = 9998
	codeOne      = 3000
)

func code(v float64) int {
	switch {
	case v != v:
		return codeNaN
	case v == 0:
		return 0
	}
	c := codeInfinity
	if !math.IsInf(v, 0) {
		c = codeOne + int(math.RoundToEven(8*math.Log2(math.Abs(v))))
	}
	if v < 0 {
		return -c
	}
	return c
}

// codes returns the codes of at most 8 elements of x, evenly spaced.
func codes(x T) []int {
	flat := x.Detach().Float64s()
	n := len(flat)
	c := make([]int, min(n, 8))
	for i := range c {
		c[i] = code(flat[i*n/len(c)])
	}
	return c
}

// edgeDifference describes the first difference of a run's results from PyTorch's, or returns "".
func edgeDifference(got map[string]T, failed string, want map[string]json.RawMessage) string {
	if text, refused := want["error"]; refused {
		if failed == "" {
			return fmt.Sprintf("PyTorch refuses it: %s", text)
		}
		return ""
	}
	if failed != "" {
		return "panic: " + failed
	}
	for _, what := range slices.Sorted(maps.Keys(got)) {
		var w []int
		if raw, ok := want[what]; ok {
			if err := json.Unmarshal(raw, &w); err != nil {
				return err.Error()
			}
		}
		x := got[what]
		switch {
		case x == nil && w == nil || x != nil && !x.DType().IsFloat():
			continue
		case x == nil:
			x = tensor.Zeros(len(w))
		}
		g := codes(x)
		if w == nil {
			w = make([]int, len(g))
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s: got %d elements, want %d", what, len(g), len(w))
		}
		largest := 0
		for _, c := range w {
			if c = max(c, -c); c < codeInfinity {
				largest = max(largest, c)
			}
		}
		for i := range w {
			if what[0] == 'h' && w[i] == codeNaN {
				continue // PyTorch's second derivative multiplies 0 by an infinity
			}
			if !agree(g[i], w[i], largest, what[0] != 'y') {
				return fmt.Sprintf("%s: element %d of %d: got %s, want %s", what, i, len(w), described(g[i]), described(w[i]))
			}
		}
	}
	return ""
}

// agree reports whether two codes agree: in class and sign, and in magnitude to a fifth. Numbers agree that are subnormal, or 2⁻¹⁸ of the
// largest of the tensor, which float32 loses in a sum; and derivatives below 2⁻²², since they start from numbers near 1.
func agree(a, b, largest int, derivative bool) bool {
	if max(a, -a) >= codeInfinity || max(b, -b) >= codeInfinity {
		return a == b
	}
	negligible := max(codeOne-8*126, largest-8*18)
	if derivative {
		negligible = max(negligible, codeOne-8*22)
	}
	if max(a, -a) <= negligible && max(b, -b) <= negligible {
		return true
	}
	return a*b > 0 && max(a-b, b-a) <= 2
}

func described(c int) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	switch c {
	case codeNaN:
		return "NaN"
	case codeInfinity:
		return sign + "Inf"
	case 0:
		return "0"
	}
	return fmt.Sprintf("%s%.2g", sign, math.Exp2(float64(c-codeOne)/8))
}
