package data_test

import (
	"fmt"
	"os"
	"path/filepath"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

func ExampleNewLoader() {
	x := tensor.Arange(0, 10).Reshape(5, 2)
	y := tensor.Arange(0, 5)
	loader := data.NewLoader(data.NewTensorDataset(x, y), 2, data.DropLast())
	for _, b := range loader.Batches() {
		fmt.Println(b.Input.Shape(), b.Target.Float64s())
	}
	// Output:
	// [2 2] [0 1]
	// [2 2] [2 3]
}

func ExampleRandomSplit() {
	set := data.NewTensorDataset(tensor.Arange(0, 100))
	parts := data.RandomSplit(set, []float64{0.8, 0.2}, tensor.NewGenerator(1))
	fmt.Println(parts[0].Len(), parts[1].Len())
	// Output:
	// 80 20
}

func ExampleTokenizer_Tokenize() {
	t, err := data.NewTokenizer([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "half", "note", "##note", "##s", "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Tokenize("A halfnote, notes"))
	// Output:
	// [a half ##note [UNK] note ##s]
}

func ExampleSaveSafetensors() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	weights := map[string]*tensor.Tensor{"fc.weight": tensor.Ones(2, 3).Half()}
	if err := data.SaveSafetensors(path, weights, map[string]string{"epoch": "3"}); err != nil {
		fmt.Println(err)
	}
	state, err := data.LoadSafetensors(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state["fc.weight"].DType(), state["fc.weight"].Shape())
	// Output:
	// float16 [2 3]
}
