package amp

import "halfnote/tensor"

// cpuOps are the operations on torch's CPU autocast lists, which ban none. The CUDA list is the
// category in each operation's own [tensor.Info]. Both follow the registrations in
// pytorch/aten/src/ATen/autocast_mode.cpp (008ec6b).
var cpuOps = map[string]tensor.Category{
	"_addmm_activation":                tensor.Lower,
	"_convolution":                     tensor.Lower,
	"_grid_sampler_2d_cpu_fallback":    tensor.Raise,
	"_lu_with_info":                    tensor.Raise,
	"_native_multi_head_attention":     tensor.Lower,
	"adaptive_avg_pool3d":              tensor.Raise,
	"adaptive_max_pool3d":              tensor.Raise,
	"addbmm":                           tensor.Lower,
	"addmm":                            tensor.Lower,
	"avg_pool3d":                       tensor.Raise,
	"baddbmm":                          tensor.Lower,
	"binary_cross_entropy":             tensor.Raise,
	"binary_cross_entropy_with_logits": tensor.Raise,
	"bmm":                              tensor.Lower,
	"cat":                              tensor.Widest,
	"cdist":                            tensor.Raise,
	"cholesky":                         tensor.Raise,
	"cholesky_inverse":                 tensor.Raise,
	"cholesky_solve":                   tensor.Raise,
	"conv1d":                           tensor.Lower,
	"conv2d":                           tensor.Lower,
	"conv3d":                           tensor.Lower,
	"conv_tbc":                         tensor.Lower,
	"conv_transpose1d":                 tensor.Lower,
	"conv_transpose2d":                 tensor.Lower,
	"conv_transpose3d":                 tensor.Lower,
	"cosine_embedding_loss":            tensor.Raise,
	"cross_entropy_loss":               tensor.Raise,
	"ctc_loss":                         tensor.Raise,
	"fake_quantize_per_tensor_affine":  tensor.Raise,
	"fft_fft":                          tensor.Raise,
	"fft_fft2":                         tensor.Raise,
	"fft_fftn":                         tensor.Raise,
	"fft_hfft":                         tensor.Raise,
	"fft_ifft":                         tensor.Raise,
	"fft_ifft2":                        tensor.Raise,
	"fft_ifftn":                        tensor.Raise,
	"fft_ihfft":                        tensor.Raise,
	"fft_irfft":                        tensor.Raise,
	"fft_irfft2":                       tensor.Raise,
	"fft_irfftn":                       tensor.Raise,
	"fft_rfft":                         tensor.Raise,
	"fft_rfft2":                        tensor.Raise,
	"fft_rfftn":                        tensor.Raise,
	"fractional_max_pool2d":            tensor.Raise,
	"fractional_max_pool3d":            tensor.Raise,
	"geqrf":                            tensor.Raise,
	"grid_sampler":                     tensor.Raise,
	"grid_sampler_2d":                  tensor.Raise,
	"grid_sampler_3d":                  tensor.Raise,
	"hinge_embedding_loss":             tensor.Raise,
	"huber_loss":                       tensor.Raise,
	"index_copy":                       tensor.Widest,
	"inverse":                          tensor.Raise,
	"kl_div":                           tensor.Raise,
	"l1_loss":                          tensor.Raise,
	"linalg_cholesky":                  tensor.Raise,
	"linalg_cholesky_ex":               tensor.Raise,
	"linalg_cond":                      tensor.Raise,
	"linalg_eig":                       tensor.Raise,
	"linalg_eigh":                      tensor.Raise,
	"linalg_eigvals":                   tensor.Raise,
	"linalg_eigvalsh":                  tensor.Raise,
	"linalg_householder_product":       tensor.Raise,
	"linalg_inv":                       tensor.Raise,
	"linalg_inv_ex":                    tensor.Raise,
	"linalg_lstsq":                     tensor.Raise,
	"linalg_matrix_rank":               tensor.Raise,
	"linalg_qr":                        tensor.Raise,
	"linalg_solve":                     tensor.Raise,
	"linalg_svd":                       tensor.Raise,
	"linalg_svdvals":                   tensor.Raise,
	"linalg_tensorinv":                 tensor.Raise,
	"linalg_tensorsolve":               tensor.Raise,
	"linalg_vecdot":                    tensor.Lower,
	"linear":                           tensor.Lower,
	"lu_solve":                         tensor.Raise,
	"margin_ranking_loss":              tensor.Raise,
	"matmul":                           tensor.Lower,
	"max_pool3d":                       tensor.Raise,
	"max_unpool2d":                     tensor.Raise,
	"max_unpool3d":                     tensor.Raise,
	"mkldnn_rnn_layer":                 tensor.Lower,
	"mm":                               tensor.Lower,
	"mse_loss":                         tensor.Raise,
	"multi_margin_loss":                tensor.Raise,
	"multilabel_margin_loss":           tensor.Raise,
	"multilabel_margin_loss_forward":   tensor.Raise,
	"nanquantile":                      tensor.Raise,
	"nll_loss":                         tensor.Raise,
	"nll_loss2d":                       tensor.Raise,
	"orgqr":                            tensor.Raise,
	"ormqr":                            tensor.Raise,
	"pinverse":                         tensor.Raise,
	"poisson_nll_loss":                 tensor.Raise,
	"polar":                            tensor.Raise,
	"prelu":                            tensor.Lower,
	"prod":                             tensor.Raise,
	"qr":                               tensor.Raise,
	"quantile":                         tensor.Raise,
	"reflection_pad1d":                 tensor.Raise,
	"reflection_pad2d":                 tensor.Raise,
	"replication_pad1d":                tensor.Raise,
	"replication_pad2d":                tensor.Raise,
	"replication_pad3d":                tensor.Raise,
	"scaled_dot_product_attention":     tensor.Lower,
	"smooth_l1_loss":                   tensor.Raise,
	"soft_margin_loss":                 tensor.Raise,
	"stack":                            tensor.Widest,
	"stft":                             tensor.Raise,
	"svd":                              tensor.Raise,
	"trace":                            tensor.Raise,
	"triangular_solve":                 tensor.Raise,
	"triplet_margin_loss":              tensor.Raise,
	"view_as_complex":                  tensor.Raise,

	// Substitutes for listed operations: steps of LSTM layers, which are mkldnn_rnn_layer in
	// torch.
	"lstm": tensor.Lower,
}

// decomposed are operations on none of torch's CUDA lists that torch composes from listed ones,
// so that they run in the dtype of those; cpuDecomposed is the same for the CPU lists.
var (
	decomposed = map[string]decomposition{
		"affine_grid_generator": {tensor.Lower, "bmm", false},
		"linalg_matrix_power":   {tensor.Lower, "matmul", false},
		"local_response_norm":   {tensor.Raise, "pow", false},
		"rms_norm":              {tensor.Raise, "pow", false},
	}
	cpuDecomposed = map[string]decomposition{
		"affine_grid_generator": {tensor.Lower, "bmm", false},
		"chain_matmul":          {tensor.Lower, "mm", true},
		"einsum":                {tensor.Lower, "bmm", true},
		"gru_cell":              {tensor.Lower, "linear", true},
		"linalg_matrix_power":   {tensor.Lower, "matmul", false},
		"linalg_multi_dot":      {tensor.Lower, "mm", false},
		"local_response_norm":   {tensor.Raise, "avg_pool3d", true},
		"lstm_cell":             {tensor.Lower, "linear", true},
		"rnn_relu_cell":         {tensor.Lower, "linear", true},
		"rnn_tanh_cell":         {tensor.Lower, "linear", true},
		"tensordot":             {tensor.Lower, "mm", true},
	}
)

type decomposition struct {
	category tensor.Category
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
