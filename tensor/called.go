package tensor

import (
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// named returns e with the operation that was called from outside the package, since operations are made of others: MaskedScatter copies
// by index, and its errors are about masked_scatter. It is found on the stack, so that operations which do not fail pay nothing.
func named(e *Error) *Error {
	op := torchName(calledFunction())
	if op == "" || !strings.HasSuffix(op, "_") && sameOp(e.Op, op) {
		return e
	}
	e.Op = op
	return e
}

// inDerivative gives an Error that the derivative of an operation panics with the operation's name. It is deferred.
func inDerivative(op string) {
	v := recover()
	if v == nil {
		return
	}
	if e, ok := v.(*Error); ok {
		e.Op = op
	}
	panic(v)
}

// precisely gives an Error of a pooling the name with the number of dimensions: "avg_pool2d", not "avg_pool". It is deferred.
func precisely(op string) {
	v := recover()
	if v == nil {
		return
	}
	if e, ok := v.(*Error); ok && sameOp(op, e.Op) {
		e.Op = op
	}
	panic(v)
}

// sameOp reports whether two names stand for one operation. "max_pool2d" is more precise than "max_pool".
func sameOp(name, torch string) bool {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.TrimPrefix(s, "linalg_"), "_", "")
	}
	rest, ok := strings.CutPrefix(plain(name), plain(torch))
	return ok && (rest == "" || len(rest) == 2 && rest[1] == 'd')
}

// calledFunction returns the exported function or method of this package that code outside it has called, or "".
func calledFunction() (name string) {
	var pcs [256]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		rest, ok := strings.CutPrefix(f.Function, packagePath)
		switch {
		case strings.HasSuffix(f.File, "_test.go"):
			return name
		case strings.HasPrefix(f.Function, "runtime."), ok && (strings.HasPrefix(rest, "/internal/") || strings.HasPrefix(rest, "/driver.")):
		case !ok || rest[0] != '.':
			return name
		default:
			if m := exported.FindStringSubmatch(rest); m != nil {
				name = m[1]
			}
		}
		if !more {
			return name
		}
	}
}

var (
	packagePath = reflect.TypeFor[Error]().PkgPath()
	// exported matches exported functions, and exported methods of the types on which operations are called.
	exported = regexp.MustCompile(`^\.(?:\(\*Tensor\)\.|\(\*Generator\)\.|KeepDim\.|functional\.)?([A-Z]\w*)(?:\.func|\[|$)`)
)

// torchName returns torch's name of an exported function, or "" if an error should keep the name that it has.
func torchName(function string) string {
	if name, ok := torchNames()[function]; ok {
		return name
	}
	end := ""
	if s, ok := strings.CutSuffix(function, "Assign"); ok {
		function, end = s, "_"
	}
	for _, variant := range []string{"With", "As", "Scalar", "Tensor", "Scaled", "Dim"} {
		if s, ok := strings.CutSuffix(function, variant); ok {
			function = s
			break
		}
	}
	if name, ok := torchNames()[function]; ok {
		return strings.TrimSuffix(name, "_") + end
	}
	return strings.ToLower(words.ReplaceAllString(function, "${1}${3}_${2}${4}")) + end
}

// words matches the ends of words in names such as LayerNorm and MSELoss.
var words = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// torchNames are the names that do not follow from Go's by rules. "-" stands for functions that run operations of others.
var torchNames = sync.OnceValue(func() map[string]string {
	list := strings.Fields(`
Apply - Backward - Grad - GradGraph - Try - Out - Checkpoint - NoGrad - New new
Accelerator current_accelerator AddBMM addbmm AddMM addmm AddMV addmv AddR addr AllClose allclose And logical_and Assign copy_ BAddBMM baddbmm
BFloat16 bfloat16 CDist cdist ChainMatMul chain_matmul Cholesky linalg_cholesky Col2Im fold Cond linalg_cond Cross linalg_cross DStack dstack
DefaultDevice get_default_device Det linalg_det DivTrunc div Eigh linalg_eigh EigvalsH linalg_eigvalsh Exponential exponential_ FInfo finfo
Fill fill_ Float32MatmulPrecision get_float32_matmul_precision FromBytes frombuffer GELUTanh gelu HStack hstack IInfo iinfo Im2Col unfold
IndexPutAdd index_put Inverse linalg_inv IsClose isclose IsFinite isfinite IsIn isin IsInf isinf IsNaN isnan IsNegInf isneginf
IsPosInf isposinf KthValue kthvalue LUFactor linalg_lu_factor LUSolve linalg_lu_solve LeakyReLU leaky_relu LeftShift bitwise_left_shift
LogAddExp logaddexp LogAddExp2 logaddexp2 LogCumsumExp logcumsumexp LogSigmoid logsigmoid LogSumExp logsumexp Lstsq linalg_lstsq
MatMul matmul MatrixExp linalg_matrix_exp MatrixNorm linalg_matrix_norm MatrixPower linalg_matrix_power MatrixRank linalg_matrix_rank
MultiDot linalg_multi_dot NanMean nanmean NanMedian nanmedian NanQuantile nanquantile NanQuantiles nanquantile NanSum nansum Not logical_not
Or logical_or PDist pdist PReLU prelu Pinv linalg_pinv QR linalg_qr Quantiles quantile RNNReLUCell rnn_relu_cell RPow pow RReLU rrelu
RSub rsub ReLU relu ReLU6 relu6 ReshapeAs reshape_as RightShift bitwise_right_shift RoundTo round SVD linalg_svd SVDVals linalg_svdvals
SiLU silu SlogDet linalg_slogdet Solve linalg_solve SolveTriangular linalg_solve_triangular SplitSizes split Step heaviside
TakeAlongDim take_along_dim SliceStep slice RepeatInterleaveEach repeat_interleave ScatterValue scatter ArgsortDescending argsort SortDescending sort TensorDot tensordot ToDevice to TopK topk TopKSmallest topk VDot vdot VStack vstack VecDot linalg_vecdot
VectorNorm linalg_vector_norm ViewAs view_as Xor logical_xor Zero zero_`)
	names := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		names[list[i]] = strings.TrimPrefix(list[i+1], "-")
	}
	return names
})
