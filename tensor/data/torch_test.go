package data_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// torchFiles is the content of testdata/torch_files.json, made by torch_files.py.
type torchFiles struct {
	Files []struct {
		Name string
		File []byte
		Want any
	}
	Refused []struct {
		Name string
		File []byte
	}
}

// rendered returns a value in the notation of torch_files.py.
func rendered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, x := range v {
			m[key] = rendered(x)
		}
		return m
	case []any:
		list := []any{}
		for _, x := range v {
			list = append(list, rendered(x))
		}
		return list
	case *tensor.Tensor:
		var bits []string
		for _, b := range v.Detach().Bits() {
			bits = append(bits, fmt.Sprintf("%0*x", 2*v.DType().Size(), b))
		}
		return fmt.Sprintf("%v %v %s%s", v.DType(), v.Shape(), map[bool]string{true: "grad "}[v.RequiresGrad()], strings.Join(bits, " "))
	case tensor.DType:
		return "dtype " + v.String()
	case tensor.Device:
		return "device " + string(v)
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case int:
		return fmt.Sprint("int ", v)
	case float64:
		return fmt.Sprintf("float %016x", math.Float64bits(v))
	case string:
		return "str " + v
	case []byte:
		return fmt.Sprintf("bytes %x", v)
	}
	return fmt.Sprintf("%T", v)
}

func TestLoadTorch(t *testing.T) {
	var files torchFiles
	readJSON(t, "torch_files.json", &files)
	for _, c := range files.Files {
		path := file(t, "x.pt", c.File)
		got, err := data.LoadTorch(path)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !reflect.DeepEqual(rendered(got), c.Want) {
			g, _ := json.Marshal(rendered(got))
			w, _ := json.Marshal(c.Want)
			t.Errorf("%s: got\n%s\nwant\n%s", c.Name, g, w)
		}
		state, err := data.Load(path)
		if m, ok := got.(map[string]any); ok && (err != nil || len(state) != len(m)) || !ok && (err == nil || !strings.Contains(err.Error(), "LoadTorch")) {
			t.Errorf("%s: Load returned %d values, %v", c.Name, len(state), err)
		}
	}
}

// TestOtherReadersNameTorchFiles checks that the readers of other formats name Load and
// LoadTorch in their error for a PyTorch file.
func TestOtherReadersNameTorchFiles(t *testing.T) {
	var files torchFiles
	readJSON(t, "torch_files.json", &files)
	for _, c := range files.Files[:2] {
		path := file(t, "x.pt", c.File)
		_, err := data.LoadSafetensors(path)
		if err == nil || !strings.Contains(err.Error(), "Load and LoadTorch read .pt and .pth") {
			t.Errorf("%s as safetensors: got error %v", c.Name, err)
		}
		if _, err = data.LoadNPZ(path); err == nil || c.Name == "state dict" && !strings.Contains(err.Error(), "Load and LoadTorch read .pt and .pth") {
			t.Errorf("%s as npz: got error %v", c.Name, err)
		}
	}
}

// TestLoadTorchUnsupportedObjects checks that the error for an unsupported object names the
// object and its place.
func TestLoadTorchUnsupportedObjects(t *testing.T) {
	var files torchFiles
	readJSON(t, "torch_files.json", &files)
	want := map[string]string{
		"complex":     `key "a.b": found a tensor of torch.complex64`,
		"quantised":   `key "q": found a call of torch._utils._rebuild_qtensor`,
		"sparse":      `key "s": found a call of torch._utils._rebuild_sparse_tensor`,
		"module":      `key "net": found a call of torch.nn.modules.linear.Linear`,
		"namespace":   `key "args.all": found a call of argparse.Namespace`,
		"function":    `key "f.0": found the name posix.getcwd`,
		"object":      `key "0": found a call of __main__.Thing`,
		"date":        `key "1": found a call of datetime.date`,
		"uint64":      `key "u": found a tensor of torch.uint64`,
		"cycle":       `key "c.0": found a list that contains itself`,
		"key":         `key "k": found a key that is a tuple`,
		"two keys":    `key "k": found the keys "1" as text and as a number`,
		"long":        `key "n": found an int of 71 bits`,
		"number":      `key "n": found a call of __builtin__.complex`,
		"negative":    `key "n": found a tensor with its conjugate or negative bit set`,
		"strings":     `key "a": found an array with elements of numpy.dtype("U1")`,
		"TorchScript": "a TorchScript archive",
	}
	if len(files.Refused) != len(want) {
		t.Errorf("got %d files, want %d", len(files.Refused), len(want))
	}
	for _, c := range files.Refused {
		_, err := data.LoadTorch(file(t, "x.pt", c.File))
		var format *data.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), want[c.Name]) {
			t.Errorf("%s: got error %v, want %s", c.Name, err, want[c.Name])
		}
	}
}
