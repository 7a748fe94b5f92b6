package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/save"
	"halfnote/tensor"
)

// Save writes nested state dicts to a file atomically, so that a crash leaves the old file
// intact:
//
//	err := data.Save("run.safetensors", map[string]any{
//		"model":     nn.StateDict(net),
//		"optimizer": opt.StateDict(),
//		"scaler":    scaler.StateDict(),
//		"generator": tensor.DefaultGenerator().State(),
//		"epoch":     epoch,
//	})
//
// [Load] returns the same types and bits. Values may be tensors, float64, int, bool, string
// and nil, []any and map[string]any of these, and maps and slices of one of them; for any
// other type the error names its key. The file is a safetensors file: tensors are named by
// their keys joined by dots, "model.0.weight"; the rest is JSON in the metadata. It is
// torch.save.
func Save(path string, state map[string]any) error {
	if err := save.File(path, func(w io.Writer) error { return writeCheckpoint(w, state) }); err != nil {
		return source{"checkpoint", path}.fail(err)
	}
	return nil
}

func writeCheckpoint(w io.Writer, state map[string]any) error {
	s := saver{tensors: map[string]*tensor.Tensor{}}
	tree, err := s.node(state, "")
	if err != nil {
		return err
	}
	return writeSafetensors(w, s.tensors, map[string]string{checkpointKey: tree})
}

// checkpointKey is the metadata key that makes a safetensors file a checkpoint. Each value
// follows its type: ["float64",0.1], ["map[string]any",{"a":["int",1]}]; elements of a
// container of one type do not: ["[]int",[1,2]]. A tensor is represented by its name.
const checkpointKey = "halfnote.checkpoint.1"

type saver struct{ tensors map[string]*tensor.Tensor }

// node returns a value with its type as JSON. path is the value's key path.
func (s *saver) node(value any, path string) (string, error) {
	kind, bare, err := "", "", error(nil)
	switch v := value.(type) {
	case map[string]any:
		kind = "map[string]any"
		bare, err = saveMap(v, path, s.node)
	case map[string]*tensor.Tensor:
		kind = "map[string]tensor"
		bare, err = saveMap(v, path, s.tensor)
	case map[string]float64:
		kind = "map[string]float64"
		bare, err = saveMap(v, path, number)
	case []any:
		kind = "[]any"
		bare, err = saveList(v, path, s.node)
	case []*tensor.Tensor:
		kind = "[]tensor"
		bare, err = saveList(v, path, s.tensor)
	case []float64:
		kind = "[]float64"
		bare, err = saveList(v, path, number)
	case []int:
		kind = "[]int"
		bare, err = saveList(v, path, integer)
	case []string:
		kind = "[]string"
		bare, err = saveList(v, path, plain)
	case *tensor.Tensor:
		kind = "tensor"
		bare, err = s.tensor(v, path)
	case float64:
		kind = "float64"
		bare, err = number(v, path)
	case int:
		kind, bare = "int", strconv.Itoa(v)
	case bool:
		kind, bare = "bool", strconv.FormatBool(v)
	case string:
		kind, bare = "string", asJSON(v)
	case nil:
		kind, bare = "nil", "null"
	default:
		err = fmt.Errorf("%s is a %T; want tensors, float64, int, bool, string, or maps and slices of these", where(path), value)
	}
	return fmt.Sprintf("[%q,%s]", kind, bare), err
}

func where(path string) string {
	if path == "" {
		return "the state"
	}
	return quoted(path)
}

func (s *saver) tensor(t *tensor.Tensor, path string) (string, error) {
	if t == nil {
		return "", fmt.Errorf("%s is nil; want a tensor", where(path))
	}
	if s.tensors[path] != nil {
		return "", fmt.Errorf("two tensors have the name %s; rename a key, or use keys without dots", where(path))
	}
	s.tensors[path] = t
	return asJSON(path), nil
}

// number returns JSON that is read back exactly; values that JSON lacks become text.
func number(x float64, _ string) (string, error) {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s = asJSON(s)
	}
	return s, nil
}

func integer(x int, _ string) (string, error) { return strconv.Itoa(x), nil }

func plain(s string, _ string) (string, error) { return asJSON(s), nil }

func saveMap[T any](m map[string]T, path string, save func(T, string) (string, error)) (string, error) {
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value, err := save(m[key], join(path, key))
		if err != nil {
			return "", err
		}
		fields = append(fields, asJSON(key)+":"+value)
	}
	return "{" + strings.Join(fields, ",") + "}", nil
}

func saveList[T any](list []T, path string, save func(T, string) (string, error)) (string, error) {
	var values []string
	for i, x := range list {
		value, err := save(x, join(path, strconv.Itoa(i)))
		if err != nil {
			return "", err
		}
		values = append(values, value)
	}
	return "[" + strings.Join(values, ",") + "]", nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Load returns the state that [Save] wrote:
//
//	state, err := data.Load("run.safetensors")
//	…
//	err = nn.LoadStateDict(net, state["model"].(map[string]*tensor.Tensor))
//	err = opt.LoadStateDict(state["optimizer"].(map[string]any))
//
// It also reads other safetensors files, of which it returns the tensors by name; PyTorch's .pt, .pth and .bin files that hold a
// dict, as [LoadTorch] does; and sharded checkpoints by their index, model.safetensors.index.json or pytorch_model.bin.index.json,
// whose shards lie next to it:
//
//	state, err := data.Load("resnet18.pth")
//	…
//	weights, err := data.StateDict(state)
//	…
//	err = nn.LoadStateDict(net, weights)
//
// If the file has a value that cannot be built, the error names it, and [LoadKnown] reads the rest. It is torch.load.
func Load(path string) (map[string]any, error) {
	state, _, err := load(path, false)
	return state, err
}

// Foreign is a value that [LoadKnown] has left out.
type Foreign struct {
	Key  string // key path, for example "args.optimizer"
	What string // class or function that makes it in Python, or type, for example "argparse.Namespace"
}

// String returns both.
func (f Foreign) String() string { return f.Key + ": " + f.What }

// LoadKnown is [Load] that leaves out the values that it cannot build, and names them: objects of Python's other classes, such as
// argparse.Namespace, datetime.date and pathlib.PosixPath, and tensors of other types, such as complex numbers:
//
//	state, left, err := data.LoadKnown("checkpoint.pt")
//	fmt.Println(left) // [args: argparse.Namespace saved: datetime.datetime]
//
// In a list nil takes the place of such a value. The error is that of Load for malformed files.
func LoadKnown(path string) (state map[string]any, left []Foreign, err error) {
	return load(path, true)
}

func load(path string, omit bool) (map[string]any, []Foreign, error) {
	f, size, err := unchecked(source{"checkpoint", path})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	switch {
	case isTorch(f):
		return readState(source{"torch", path}, f, size, omit)
	case isJSON(f):
		tensors, left, err := readShards(source{"index", path}, f, size, omit)
		return anyOf(tensors), left, err
	}
	src := source{"safetensors", path}
	if err := src.checkStart(f, size); err != nil {
		return nil, nil, err
	}
	s, err := readSafetensors(src, f, size)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := s.meta[checkpointKey]; ok {
		state, err := readCheckpoint(source{"checkpoint", path}, s)
		return state, nil, err
	}
	tensors, left, err := s.all(omit)
	return anyOf(tensors), left, err
}

// anyOf returns tensors as a state.
func anyOf(tensors map[string]*tensor.Tensor) map[string]any {
	if tensors == nil {
		return nil
	}
	state := make(map[string]any, len(tensors))
	for name, t := range tensors {
		state[name] = t
	}
	return state
}

func readCheckpoint(src source, f *Safetensors) (map[string]any, error) {
	l := checkpoint{parser: parser{json.NewDecoder(strings.NewReader(f.meta[checkpointKey]))}, file: f, used: map[string]bool{}}
	l.UseNumber()
	value, err := l.node(0)
	if err == nil {
		if _, more := l.Decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("data after the value")
		}
	}
	state, ok := value.(map[string]any)
	switch {
	case err != nil:
		return nil, src.bad(fmt.Sprintf("metadata %s, byte %d", checkpointKey, l.InputOffset()), err.Error(), "a value and its type")
	case !ok:
		return nil, src.bad("metadata", fmt.Sprintf("a %T", value), "a map[string]any")
	case len(l.used) != len(f.names):
		return nil, src.bad("metadata", fmt.Sprintf("%d tensors", len(l.used)), fmt.Sprintf("%d, the number in the file", len(f.names)))
	}
	return state, nil
}
