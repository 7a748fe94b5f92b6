// Package data feeds batches to a training loop, and reads and writes the files that
// data, weights and checkpoints are kept in: torch.utils.data, the data sets of
// torchvision, safetensors.
//
//	loader := data.NewLoader(data.NewDataset(x, y), 64, data.Shuffle(1))
//	for _, b := range loader.Batches() {
//		loss := nn.MSELoss(net.Forward(b.Input), b.Target)
//		…
//	}
//
// # Data sets
//
// A [Dataset] has a length and samples by index; each sample is one or more tensors.
// [NewDataset] makes one of tensors; [CIFAR10], [CIFAR100] and [MNIST] read the files of
// that name; a type with Len and Get is one, too. [Subset], [RandomSplit] and
// [ConcatDataset] make others of them.
//
// # Batches
//
// A [Loader] cuts a data set into batches. Batches gives those of an epoch at once;
// [Loader.Epoch] makes one while the last is in use, on [Workers]:
//
//	bar := display.NewProgress(loader.Len(), "epoch 1")
//	for e := loader.Epoch().Show(bar); e.Next(); {
//		loss := nn.CrossEntropyLoss(net.Forward(e.Batch().Input), e.Batch().Target)
//		…
//	}
//
// Order, crops and flips depend on the seed alone, not on the number of workers; the
// order is that of torch.utils.data.DataLoader.
//
// # Files
//
// Load… reads a whole file, Save… writes one, under another name first, so that a crash
// leaves the old file or the new one. Formats are safetensors, numpy's .npy and .npz,
// CSV, IDX (MNIST's) and CIFAR's. [Save] and [Load] keep nested state dicts, which is
// what a checkpoint is. A file that is not what it should be gives a [*FormatError] with
// the place, what was found and what was expected.
//
// # Files of PyTorch
//
// [Load] also reads the .pt and .pth files of torch.save that hold a dict, in the zip format
// and in that before PyTorch 1.6, and [StateDict] takes the weights out of it:
//
//	state, err := data.Load("checkpoint.pth") // {"epoch": 3, "model": …, "optimizer": …}
//	weights, err := data.StateDict(state["model"])
//	err = nn.LoadStateDict(net, weights)
//
// Modules have torch's names and shapes, so weights that were trained there work here.
// [LoadTorch] reads files with any object. Such files are programs of Python's pickle. They
// are not run: numbers, text, containers, tensors and arrays are built, by this package
// alone, and a file with anything else is refused by the name of what it asks for. Save has
// no counterpart that writes such files; PyTorch reads safetensors.
//
// # Text
//
// [LoadTokenizer] reads a vocabulary of BERT's; the [Tokenizer] makes ids of texts as
// BERT's does.
package data
