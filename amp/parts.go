package amp

import "halfnote/tensor"

// decomposed are operations on none of torch's CUDA lists that torch composes from listed ones,
// so that they run in the dtype of those; cpuDecomposed is the same for the CPU lists.
var (
	decomposed = map[string]decomposition{
		"affine_grid_generator": {LowerPrecision, "bmm", false},
		"linalg_matrix_power":   {LowerPrecision, "matmul", false},
		"local_response_norm":   {FP32, "pow", false},
		"rms_norm":              {FP32, "pow", false},
	}
	cpuDecomposed = map[string]decomposition{
		"affine_grid_generator": {LowerPrecision, "bmm", false},
		"chain_matmul":          {LowerPrecision, "mm", true},
		"einsum":                {LowerPrecision, "bmm", true},
		"gru_cell":              {LowerPrecision, "linear", true},
		"linalg_matrix_power":   {LowerPrecision, "matmul", false},
		"linalg_multi_dot":      {LowerPrecision, "mm", false},
		"local_response_norm":   {FP32, "avg_pool3d", true},
		"lstm_cell":             {LowerPrecision, "linear", true},
		"rnn_relu_cell":         {LowerPrecision, "linear", true},
		"rnn_tanh_cell":         {LowerPrecision, "linear", true},
		"tensordot":             {LowerPrecision, "mm", true},
	}
)

type decomposition struct {
	category Category
	of       string
	apart    bool // the parts are cast separately, because their dtypes depend on the arguments
}

// named are the listed operations with a dtype argument: fp32_set_opt_dtype and
// fp32_append_dtype in torch. A dtype given by the caller takes precedence.
var named = map[string]bool{
	"cumprod": true, "cumsum": true, "linalg_matrix_norm": true, "linalg_vector_norm": true, "log_softmax": true,
	"norm": true, "prod": true, "softmax": true, "sum": true,
}

// madeOf maps function names to the operations that autocast sees.
var madeOf = map[string][]string{
	"__matmul__": {"matmul"}, "chain": {"chain_matmul"}, "cross_entropy": {"log_softmax", "nll_loss"}, "grid_sample": {"grid_sampler"},
	"GRUCell": {"gru_cell"}, "eigh": {"linalg_eigh"}, "inverse": {"linalg_inv"}, "interpolate": {"upsample_nearest2d", "upsample_bilinear2d"}, "lstsq": {"linalg_lstsq"}, "LSTMCell": {"lstm_cell"},
	"max_pool": {"max_pool1d", "max_pool2d", "max_pool3d"}, "multi_dot": {"linalg_multi_dot"}, "normalize": {"norm"}, "pad": {"constant_pad_nd"}, "pinv": {"pinverse"}, "qr": {"linalg_qr"},
	"RNNCell": {"rnn_tanh_cell", "rnn_relu_cell"}, "softmin": {"softmax"}, "svd": {"linalg_svd"}, "vecdot": {"linalg_vecdot"},
}

// wholes are functions on torch's CPU lists that are composed of several operations here.
var wholes = []tensor.Info{
	{Name: "adaptive_max_pool3d", Torch: "torch.nn.functional.adaptive_max_pool3d"},
	{Name: "cross_entropy_loss", Torch: "torch.nn.functional.cross_entropy"},
	{Name: "fractional_max_pool2d", Torch: "torch.nn.functional.fractional_max_pool2d"},
	{Name: "fractional_max_pool3d", Torch: "torch.nn.functional.fractional_max_pool3d"},
	{Name: "linalg_cond", Torch: "torch.linalg.cond"},
	{Name: "linalg_matrix_rank", Torch: "torch.linalg.matrix_rank"},
	{Name: "max_unpool2d", Torch: "torch.nn.functional.max_unpool2d"},
	{Name: "nanquantile", Torch: "torch.nanquantile"},
	{Name: "quantile", Torch: "torch.quantile"},
}
