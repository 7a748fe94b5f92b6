package data

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// LoadTorch reads a PyTorch file, .pt or .pth, in the zip format or in the older format
// that PyTorch used before 1.6. All tensors are on the CPU. Python's objects become
//
//	dict, OrderedDict           map[string]any; whole numbers among the keys become text
//	list, tuple, set, deque     []any
//	torch.Size                  []any of int
//	str, int, float, bool       string, int, float64, bool
//	bytes, None                 []byte, nil
//	torch.Tensor, Parameter     *tensor.Tensor; those that share memory do so here
//	torch.dtype, torch.device   tensor.DType, tensor.Device
//	numpy's arrays and numbers  *tensor.Tensor; float64, int or bool
//
// Tensors of float8_e4m3fnuz, float8_e5m2fnuz and float8_e8m0fnu become bfloat16, which holds all their values.
// No code in the file is run: an object of any other class gives an error with its position
// and name, and [LoadKnown] leaves it out. So do complex, quantised and sparse tensors, and modules saved as a whole. TorchScript
// is refused. The error is a *[FormatError] with the key path or the byte. It is torch.load.
func LoadTorch(path string) (any, error) {
	src := source{"torch", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, _, err := readTorch(src, f, size, false)
	return v, err
}

// StateDict returns tensors by name, for nn.LoadStateDict, from a state dict that [Load] or
// [LoadTorch] returned, or a part of one:
//
//	state, err := data.Load("checkpoint.pth")
//	…
//	weights, err := data.StateDict(state["model"])
//	…
//	err = nn.LoadStateDict(net, weights)
//
// The error names the value that is not a tensor.
func StateDict(value any) (map[string]*tensor.Tensor, error) {
	switch state := value.(type) {
	case map[string]*tensor.Tensor:
		return state, nil
	case map[string]any:
		tensors := make(map[string]*tensor.Tensor, len(state))
		for name, v := range state {
			t, ok := v.(*tensor.Tensor)
			if !ok {
				return nil, fmt.Errorf("data: state dict: %s is %s; want only tensors: %s", quoted(name), typeName(v), weightsIn(state))
			}
			tensors[name] = t
		}
		return tensors, nil
	}
	return nil, fmt.Errorf("data: state dict: found %s; want a map of tensors", typeName(value))
}

// weightsIn says under which keys of a checkpoint the weights may be.
func weightsIn(state map[string]any) string {
	var keys []string
	for key, v := range state {
		if _, err := StateDict(v); err == nil {
			keys = append(keys, quoted(key))
		}
	}
	if len(keys) == 0 {
		return `the weights may be under a key such as "model"`
	}
	slices.Sort(keys)
	return "the weights may be under the key " + strings.Join(keys, " or ")
}

// Numbers returns the numbers of a state dict by name, for the LoadStateDict of a scheduler or an amp.GradScaler:
//
//	state, err := data.Load("checkpoint.pth")
//	…
//	numbers, err := data.Numbers(state["scaler"])
//	…
//	scaler.LoadStateDict(numbers)
//
// Names of nested values are joined by dots, as in _last_lr.0; true is 1 and false 0; a tensor with one element is a number. Text,
// nil and other tensors are dropped.
func Numbers(value any) (map[string]float64, error) {
	out := map[string]float64{}
	switch state := value.(type) {
	case map[string]float64:
		return state, nil
	case map[string]any:
		for name, v := range state {
			addNumbers(out, name, v)
		}
		return out, nil
	}
	return nil, fmt.Errorf("data: numbers: found %s; want a map of numbers", typeName(value))
}

func addNumbers(out map[string]float64, path string, value any) {
	switch v := value.(type) {
	case float64:
		out[path] = v
	case int:
		out[path] = float64(v)
	case bool:
		out[path] = 0
		if v {
			out[path] = 1
		}
	case *tensor.Tensor:
		if v.Numel() == 1 {
			out[path] = v.Item()
		}
	case []any:
		for i, x := range v {
			addNumbers(out, join(path, strconv.Itoa(i)), x)
		}
	case map[string]any:
		for name, x := range v {
			addNumbers(out, join(path, name), x)
		}
	}
}

func typeName(v any) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprintf("%T", v)
}

// First bytes of files.
var (
	zipStart    = []byte("PK\x03\x04")
	pickleStart = []byte{0x80}
	magicNumber = []byte{0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19} // in files from before PyTorch 1.6
)

// isTorch reports whether a file may be a PyTorch file.
func isTorch(f io.ReaderAt) bool {
	start := make([]byte, 32)
	n, _ := f.ReadAt(start, 0)
	start = start[:n]
	return bytes.HasPrefix(start, zipStart) || bytes.HasPrefix(start, pickleStart) && bytes.Contains(start, magicNumber)
}

func readTorch(src source, f io.ReaderAt, size int64, omit bool) (any, []Foreign, error) {
	start := make([]byte, 512)
	n, _ := f.ReadAt(start, 0)
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, zipStart):
		return readTorchZip(src, f, size, omit)
	case len(start) >= 262 && string(start[257:262]) == "ustar":
		return nil, nil, src.bad(atByte(0), "a tar archive, as PyTorch wrote before version 0.1.10", "a zip archive or a pickle; save it again with PyTorch 0.4 or newer")
	case bytes.HasPrefix(start, pickleStart) && bytes.Contains(start[:min(n, 32)], magicNumber):
		return readTorchPickle(src, f, size, omit)
	case bytes.HasPrefix(start, pickleStart):
		return nil, nil, src.bad(atByte(0), "a pickle without PyTorch's magic number", "a file written by torch.save, not by pickle.dump")
	}
	return nil, nil, src.bad(atByte(0), quoted(start[:min(n, 8)]), "a zip archive or a pickle of torch.save; Load, LoadSafetensors, LoadNPY and LoadNPZ read other formats")
}

// readState returns the dict in a PyTorch file, and what of it is left out.
func readState(src source, f io.ReaderAt, size int64, omit bool) (map[string]any, []Foreign, error) {
	v, left, err := readTorch(src, f, size, omit)
	if err != nil {
		return nil, nil, err
	}
	state, ok := v.(map[string]any)
	if !ok {
		return nil, nil, src.bad("the object", typeName(v), "a dict; LoadTorch reads other objects")
	}
	return state, left, nil
}

// fileOf is a PyTorch file whose pickle program has run.
type fileOf struct {
	source
	size      int64
	bigEndian bool
	open      func(s *storage) (io.ReadCloser, error) // opens the bytes of a storage
	read      int64                                   // bytes read
}

// load reads a storage. The storages together may not have more bytes than the file.
func (f *fileOf) load(s *storage) (*tensor.Tensor, error) {
	if s.data != nil {
		return s.data, nil
	}
	where := "storage " + quoted(s.key)
	if f.read += int64(s.bytes); f.read > f.size {
		return nil, f.bad(where, fmt.Sprintf("%d bytes", s.bytes), fmt.Sprintf("at most the file's %d", f.size))
	}
	e := s.element
	if e == nil {
		e = elementNamed("U8")
	}
	r, err := f.open(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := e.read(r, f.bigEndian, []int{s.numel()})
	if err == nil {
		_, err = io.Copy(io.Discard, r) // the checksum is at the end
	}
	if err != nil {
		return nil, f.bad(where, err.Error(), fmt.Sprintf("%d elements of %s", s.numel(), e.name))
	}
	s.data = t
	return t, nil
}

// tensor returns v as a tensor that shares the memory of its storage.
func (f *fileOf) tensor(v *view) (t *tensor.Tensor, err error) {
	base, err := f.load(v.storage)
	if err != nil {
		return nil, err
	}
	tooMuch := tensor.Try(func() {
		tensor.NoGrad(func() { t = base.AsStrided(slices.Clone(v.shape), v.stride, v.offset) })
		if v.grad && t.DType().IsFloat() {
			t = t.Detach().RequireGrad()
		}
	})
	return t, tooMuch
}
