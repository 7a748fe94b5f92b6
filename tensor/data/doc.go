// Package data feeds batches to a training loop, and reads and writes files of data, weights
// and checkpoints: torch.utils.data, torchvision's data sets, safetensors.
//
//	loader := data.NewLoader(data.NewTensorDataset(x, y), 64, data.Shuffle(1))
//	for _, b := range loader.Batches() {
//		loss := nn.MSELoss(net.Forward(b.Input), b.Target)
//		…
//	}
//
// # Data sets
//
// A [Dataset] has a length and samples by index; each sample is one or more tensors.
// [NewTensorDataset] makes one from tensors; [LoadCIFAR10], [LoadCIFAR100] and [LoadMNIST] read
// the files of those data sets; any type with Len and Get is a Dataset. [NewSubset],
// [RandomSplit] and [NewConcatDataset] derive others.
//
// # Batches
//
// A [Loader] splits a data set into batches. Batches returns those of an epoch at once;
// [Loader.Epoch] prepares the next one while the loop uses the current one, with
// [Workers]:
//
//	bar := display.NewProgress(loader.Len(), "epoch 1")
//	for e := loader.Epoch().Show(bar); e.Next(); {
//		loss := nn.CrossEntropy(net.Forward(e.Batch().Input), e.Batch().Target)
//		…
//	}
//
// Order, crops and flips depend only on the seed, not on the number of workers. The
// order is that of torch.utils.data.DataLoader.
//
// # Files
//
// Load… functions read a whole file. Save… functions write one atomically: a crash leaves
// the old file or the new one. Formats are safetensors, NumPy's .npy and .npz, CSV, IDX
// (MNIST's) and CIFAR's. [Save] and [Load] store nested state dicts: checkpoints. A malformed
// file gives a [*FormatError] with the position, what was found and what was expected.
//
// # PyTorch files
//
// [Load] also reads torch.save's .pt and .pth files that hold a dict, in the zip format and
// in the older format that PyTorch used before 1.6, and [StateDict] extracts the weights:
//
//	state, err := data.Load("checkpoint.pth") // {"epoch": 3, "model": …, "optimizer": …}
//	weights, err := data.StateDict(state["model"])
//	err = nn.LoadStateDict(net, weights)
//
// Modules have torch's names and shapes, so weights trained there work here. [LoadTorch]
// reads files with any object. Such files contain programs in Python's pickle format. They
// are not run: this package builds only numbers, text, containers, tensors and arrays, and
// its error names any other object; [LoadKnown] leaves it out. Save does not write such files; PyTorch reads
// safetensors.
//
// An optimizer's LoadStateDict takes the state dict of torch.optim. [Numbers] does the same as StateDict for schedulers and an
// amp.GradScaler, so that a run that began in PyTorch continues here:
//
//	err = opt.LoadStateDict(state["optimizer"].(map[string]any))
//	numbers, err := data.Numbers(state["scaler"])
//	scaler.LoadStateDict(numbers)
//
// Checkpoints in several files are read by their index: Load("model.safetensors.index.json").
//
// # Text
//
// [LoadTokenizer] reads a BERT vocabulary; the [Tokenizer] maps texts to ids as BERT's does.
package data
