package nn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// absent maps names of torch.nn and torch.nn.functional without a counterpart of that name
// to the reason.
var absent = map[string]string{
	"torch.nn.Buffer":                    "a tensor that requires no gradient, in a field",
	"torch.nn.Container":                 "deprecated in torch",
	"torch.nn.CrossMapLRN2d":             "its window drops the wrong channel in torch; LocalResponseNorm is correct",
	"torch.nn.DataParallel":              "for several devices; the library computes on one",
	"torch.nn.LinearCrossEntropyOptions": "how LinearCrossEntropyLoss is computed in chunks, which it is not here",
	"torch.nn.ModuleDict":                "a map of modules",
	"torch.nn.ModuleList":                "a slice of modules",
	"torch.nn.NLLLoss2d":                 "deprecated in torch: NLLLoss",
	"torch.nn.Parameter":                 "a tensor that requires a gradient, in a field",
	"torch.nn.ParameterDict":             "a map of tensors",
	"torch.nn.ParameterList":             "a slice of tensors",
	"torch.nn.RNNBase":                   "not exported: the state common to RNN, GRU and LSTM",
	"torch.nn.RNNCellBase":               "not exported: the state common to the cells",
	"torch.nn.SyncBatchNorm":             "for several devices; the library computes on one",
	"torch.nn.UninitializedBuffer":       "for lazy modules, which are not provided",
	"torch.nn.UninitializedParameter":    "for lazy modules, which are not provided",

	"torch.nn.functional.adaptive_max_pool1d_with_indices":   "values only",
	"torch.nn.functional.adaptive_max_pool2d_with_indices":   "values only",
	"torch.nn.functional.adaptive_max_pool3d_with_indices":   "values only",
	"torch.nn.functional.fractional_max_pool2d_with_indices": "FractionalMaxPool.ForwardIndices",
	"torch.nn.functional.fractional_max_pool3d_with_indices": "FractionalMaxPool.ForwardIndices",
	"torch.nn.functional.grouped_mm":                         "for kernels of certain GPUs",
	"torch.nn.functional.multi_head_attention_forward":       "MultiheadAttention.Attend",
	"torch.nn.functional.native_channel_shuffle":             "ChannelShuffle",
	"torch.nn.functional.scaled_addmm":                       "for kernels of certain GPUs",
	"torch.nn.functional.scaled_addmm_":                      "for kernels of certain GPUs",
	"torch.nn.functional.scaled_grouped_mm":                  "for kernels of certain GPUs",
	"torch.nn.functional.scaled_mm":                          "for kernels of certain GPUs",
	"torch.nn.functional.upsample_bilinear":                  "deprecated in torch: Interpolate",
	"torch.nn.functional.upsample_nearest":                   "deprecated in torch: Interpolate",
}

// TestTorchList checks that each of torch's names has an exported counterpart of the same
// name, with or without New, or a reason for its absence.
func TestTorchList(t *testing.T) {
	own := exported(t, ".", "..")
	text, err := os.ReadFile("testdata/torch.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	n := 0
	for _, name := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		n++
		listed[name] = true
		last := name[strings.LastIndex(name, ".")+1:]
		plain := strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(last, "_")), "_", "")
		found := own[plain] || own["new"+plain]
		switch _, known := absent[name]; {
		case found && known:
			t.Errorf("%s is listed as absent but exported", name)
		case !found && !known && !strings.HasPrefix(last, "Lazy"):
			t.Errorf("%s has neither a counterpart nor a reason", name)
		}
	}
	for name := range absent {
		if !listed[name] {
			t.Errorf("%s is listed as absent but not in torch's list", name)
		}
	}
	if n < 250 {
		t.Errorf("the list of torch's names is too short: got %d names", n)
	}
}

// exported returns the names of the functions and methods of packages in lower case.
func exported(t *testing.T, dirs ...string) map[string]bool {
	names := map[string]bool{}
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), dir+"/"+file.Name(), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() {
					names[strings.ToLower(fn.Name.Name)] = true
				}
				if g, ok := d.(*ast.GenDecl); ok {
					for _, s := range g.Specs {
						if ty, ok := s.(*ast.TypeSpec); ok && ty.Name.IsExported() {
							names[strings.ToLower(ty.Name.Name)] = true
						}
					}
				}
			}
		}
	}
	return names
}
