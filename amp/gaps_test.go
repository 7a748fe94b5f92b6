package amp_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// standsFor maps names of torch's lists to the operations that they mean here, if these have other names.
var standsFor = map[string][]string{
	"__matmul__":    {"matmul"},
	"GRUCell":       {"gru_cell"},
	"LSTMCell":      {"lstm_cell"},
	"RNNCell":       {"rnn_tanh_cell", "rnn_relu_cell"},
	"multi_dot":     {"linalg_multi_dot"},
	"grid_sample":   {"grid_sampler"},
	"cross_entropy": {"log_softmax", "nll_loss"},
	"softmin":       {"softmax"},
	"normalize":     {"norm"},

	"_convolution":                        {"conv1d", "conv2d", "conv3d"},
	"convolution":                         {"conv1d", "conv2d", "conv3d"},
	"cudnn_convolution":                   {"conv1d", "conv2d", "conv3d"},
	"cudnn_convolution_transpose":         {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"},
	"_thnn_fused_lstm_cell":               {"lstm_cell"},
	"_thnn_fused_gru_cell":                {"gru_cell"},
	"_scaled_dot_product_flash_attention": {"scaled_dot_product_attention"},
	"native_layer_norm":                   {"layer_norm"},
	"nll_loss2d":                          {"nll_loss"},
}

// lists are the operations on the autocast lists of the tutorials, by category.
var lists = map[string]struct {
	names    string
	category amp.Category
}{
	"lower precision": {"__matmul__ addbmm bmm chain_matmul multi_dot conv1d conv2d conv3d GRUCell linear LSTMCell matmul mm mv prelu RNNCell", amp.LowerPrecision},
	"float32":         {"binary_cross_entropy_with_logits cosine_similarity cross_entropy cumsum dist l1_loss layer_norm log log_softmax mse_loss nll_loss norm normalize pow prod soft_margin_loss softmax softmin softplus sum", amp.FP32},
	"widest":          {"addcdiv addcmul bilinear cross dot grid_sample scatter_add tensordot", amp.Promote},
}

// TestNoGaps checks that every name on those lists and on torch's list for CUDA is an operation of its
// category.
func TestNoGaps(t *testing.T) {
	known := map[string]amp.Category{}
	for _, op := range tensor.Ops() {
		known[op.Name] = amp.Listed(op)
	}
	look := func(list, name string, want amp.Category) {
		names := standsFor[name]
		if names == nil {
			names = []string{name}
		}
		for _, n := range names {
			if got, ok := known[n]; !ok {
				t.Errorf("%s: unknown operation %s", list, n)
			} else if got != want {
				t.Errorf("%s: %s is %v, want %v", list, n, got, want)
			}
		}
	}
	for list, l := range lists {
		for _, name := range strings.Fields(l.names) {
			look(list, name, l.category)
		}
	}
	cuda, _ := readLists(t)
	for list, names := range cuda {
		for _, name := range names {
			look(list, name, categories[list])
		}
	}
	for name := range standsFor {
		if !slices.ContainsFunc(tensor.Ops(), func(i tensor.Info) bool { return i.Name == standsFor[name][0] }) {
			t.Errorf("%s stands for %v, which is not an operation", name, standsFor[name])
		}
	}
}

// categories maps torch's names of the lists to categories.
var categories = map[string]amp.Category{
	"lower_precision_fp": amp.LowerPrecision, "fp32": amp.FP32, "fp32_set_opt_dtype": amp.FP32, "fp32_append_dtype": amp.FP32, "promote": amp.Promote, "banned": amp.Banned,
}
