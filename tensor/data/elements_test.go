package data_test

import (
	"path/filepath"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// TestEveryDTypeRoundTrips writes and reads tensors of every dtype in every format, and checks
// that formats without the dtype return an error that names it.
func TestEveryDTypeRoundTrips(t *testing.T) {
	folder := t.TempDir()
	without := map[string][]tensor.DType{
		"npy": {tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2},
		"idx": {tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2, tensor.Float16, tensor.Int64, tensor.Bool},
	}
	for _, d := range tensor.DTypes() {
		x := tensor.Arange(-3, 3).Reshape(2, 3).To(d)
		for format, f := range map[string]func(path string) (*tensor.Tensor, error){
			"npy": func(path string) (*tensor.Tensor, error) {
				if err := data.SaveNPY(path, x); err != nil {
					return nil, err
				}
				return data.LoadNPY(path)
			},
			"idx": func(path string) (*tensor.Tensor, error) {
				if err := data.SaveIDX(path, x); err != nil {
					return nil, err
				}
				return data.LoadIDX(path)
			},
			"safetensors": func(path string) (*tensor.Tensor, error) {
				if err := data.SaveSafetensors(path, map[string]*tensor.Tensor{"x": x}, nil); err != nil {
					return nil, err
				}
				all, err := data.LoadSafetensors(path)
				return all["x"], err
			},
			"checkpoint": func(path string) (*tensor.Tensor, error) {
				if err := data.Save(path, map[string]any{"a": []any{x}}); err != nil {
					return nil, err
				}
				state, err := data.Load(path)
				if err != nil {
					return nil, err
				}
				return state["a"].([]any)[0].(*tensor.Tensor), nil
			},
		} {
			y, err := f(filepath.Join(folder, format+"."+d.String()))
			has := true
			for _, w := range without[format] {
				has = has && w != d
			}
			switch {
			case has && (err != nil || y.DType() != d || !tensor.Equal(y.To(tensor.Float64), x.To(tensor.Float64))):
				t.Errorf("%v as %s: got %v, %v", d, format, y, err)
			case !has && (err == nil || !strings.Contains(err.Error(), d.String())):
				t.Errorf("%v as %s: got error %v, want one that names the dtype", d, format, err)
			}
		}
	}
}
