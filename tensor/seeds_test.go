package tensor

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// standsFor names the operations that a name of torch's lists stands for here, where
// that is not an operation of the same name.
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

// lists are the operations that the documents name which this project teaches from,
// list by list.
var lists = map[string]struct {
	names    string
	category Category
}{
	"lower precision": {"__matmul__ addbmm bmm chain_matmul multi_dot conv1d conv2d conv3d GRUCell linear LSTMCell matmul mm mv prelu RNNCell", Lower},
	"float32":         {"binary_cross_entropy_with_logits cosine_similarity cross_entropy cumsum dist l1_loss layer_norm log log_softmax mse_loss nll_loss norm normalize pow prod soft_margin_loss softmax softmin softplus sum", Raise},
	"widest":          {"addcdiv addcmul bilinear cross dot grid_sample scatter_add tensordot", Widest},
}

// TestNoGaps looks for every name of those lists, and of torch's whole list for
// CUDA, among the operations, in its category.
func TestNoGaps(t *testing.T) {
	known := map[string]Category{}
	for _, op := range Ops() {
		known[op.Name] = op.Category
	}
	look := func(list, name string, want Category) {
		names := standsFor[name]
		if names == nil {
			names = []string{name}
		}
		for _, n := range names {
			if got, ok := known[n]; !ok {
				t.Errorf("%s: there is no operation %s", list, n)
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
	text, err := os.ReadFile("testdata/oplists.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ CUDA map[string][]string }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for list, names := range all.CUDA {
		for _, name := range names {
			look(list, name, categories[list])
		}
	}
	for name := range standsFor {
		if !slices.ContainsFunc(Ops(), func(i Info) bool { return i.Name == standsFor[name][0] }) {
			t.Errorf("%s stands for %v, which is not an operation", name, standsFor[name])
		}
	}
}

// categories are what torch's names of the lists mean.
var categories = map[string]Category{
	"lower_precision_fp": Lower, "fp32": Raise, "fp32_set_opt_dtype": Raise, "fp32_append_dtype": Raise, "promote": Widest, "banned": Banned,
}
