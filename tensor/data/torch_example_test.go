package data_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
)

// modelFile writes the PyTorch file of torch.save({"epoch": 3, "model":
// nn.Linear(4, 3).state_dict()}, path) and returns its name.
func modelFile() string {
	var fixtures struct{ Models []struct{ File []byte } }
	text, err := os.ReadFile("testdata/torch_models.json")
	if err == nil {
		err = json.Unmarshal(text, &fixtures)
	}
	if err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(folder, "linear.pth")
	if err := os.WriteFile(path, fixtures.Models[0].File, 0o644); err != nil {
		panic(err)
	}
	return path
}

// Weights that PyTorch has trained are loaded into a module of the same names and shapes.
func ExampleStateDict() {
	path := modelFile()
	defer os.RemoveAll(filepath.Dir(path))
	state, err := data.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	weights, err := data.StateDict(state["model"])
	if err != nil {
		fmt.Println(err)
		return
	}
	net := nn.NewLinear(4, 3)
	if err := nn.LoadStateDict(net, weights); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("epoch", state["epoch"], "weight", net.Weight.Shape(), "output", net.Forward(tensor.Ones(1, 4)).Shape())
	// Output: epoch 3 weight [3 4] output [1 3]
}
