package data_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestTorchAverage resumes PyTorch's AveragedModel of testdata/torch_average.json, writes it in the same form, and compares two more updates.
func TestTorchAverage(t *testing.T) {
	var file struct {
		Cases map[string]struct{ File, After []byte }
	}
	text, err := os.ReadFile("testdata/torch_average.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	load := func(content []byte) map[string]any {
		path := filepath.Join(t.TempDir(), "state.pt")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		state, err := data.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	for name, c := range file.Cases {
		t.Run(name, func(t *testing.T) {
			net := nn.NewSequential(nn.NewLinear(3, 2), nn.NewBatchNorm1d(2))
			average := optim.NewSWA(nn.Parameters(net))
			if name == "ema" {
				average = optim.NewEMA(nn.Parameters(net), 0.75)
			}
			saved := load(c.File)
			weights := map[string]*tensor.Tensor{}
			for n, v := range saved["net"].(map[string]any) {
				weights[n] = v.(*tensor.Tensor)
			}
			if err := average.LoadTorchStateDict(nn.StateDict(net), saved["average"].(map[string]any)); err != nil {
				t.Fatal(err)
			}
			if err := nn.LoadStateDict(net, weights); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "average.pt")
			if err := data.Save(path, average.TorchStateDict(nn.StateDict(net))); err != nil {
				t.Fatal(err)
			}
			again, err := data.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			names := slices.Sorted(maps.Keys(saved["average"].(map[string]any)))
			if got := slices.Sorted(maps.Keys(again)); !slices.Equal(got, names) {
				t.Errorf("got %v, want %v", got, names)
			}
			for range 2 {
				tensor.NoGrad(func() {
					for _, p := range nn.Parameters(net) {
						p.Assign(p.AddScalar(0.25))
					}
				})
				average.Update()
			}
			want := load(c.After)
			for n, x := range average.TorchStateDict(nn.StateDict(net)) {
				if y := want[n].(*tensor.Tensor); !strings.Contains(n, "running") && !tensor.AllClose(x.(*tensor.Tensor), y, 1e-6, 1e-7) {
					t.Errorf("%s: got %v, want %v", n, x, y)
				}
			}
			delete(again, "module.0.bias")
			again["module.2.bias"] = tensor.Ones(1)
			err = average.LoadTorchStateDict(nn.StateDict(net), again)
			if err == nil || !strings.Contains(err.Error(), "module.0.bias is missing; module.2.bias is not in the model") {
				t.Errorf("got %v, want an error that names what is missing and unknown", err)
			}
		})
	}
}
