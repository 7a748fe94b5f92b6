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

// A checkpoint may hold objects of Python's classes next to the weights: LoadKnown leaves them out and names them.
func ExampleLoadKnown() {
	var world torchWorld
	text, err := os.ReadFile("testdata/torch_world.json")
	if err == nil {
		err = json.Unmarshal(text, &world)
	}
	folder, err2 := os.MkdirTemp("", "example")
	if err != nil || err2 != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "checkpoint.pt")
	if err := os.WriteFile(path, world.Files[0].File, 0o644); err != nil {
		panic(err)
	}
	state, left, err := data.LoadKnown(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("epoch", state["epoch"])
	for _, l := range left {
		fmt.Println("left out", l)
	}
	// Output:
	// epoch 3
	// left out args.x: argparse.Namespace
	// left out args.list.1: argparse.Namespace
}

// The numbers of a state dict of PyTorch, for a scheduler or a gradient scaler.
func ExampleNumbers() {
	numbers, err := data.Numbers(map[string]any{"last_epoch": 3, "verbose": false, "_last_lr": []any{0.1, 0.2}, "mode": "min"})
	fmt.Println(numbers, err)
	// Output: map[_last_lr.0:0.1 _last_lr.1:0.2 last_epoch:3 verbose:0] <nil>
}
