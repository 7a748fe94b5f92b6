package data

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/tensor"
)

// Sharded checkpoints: an index in JSON whose weight_map names the file of each tensor. It is load_sharded_checkpoint of
// transformers/modeling_utils.py.

// isJSON reports whether a file begins like a JSON object. A safetensors file does not: its first bytes are a length, which would
// be larger than any file.
func isJSON(f io.ReaderAt) bool {
	start := make([]byte, 64)
	n, _ := f.ReadAt(start, 0)
	text := strings.TrimLeft(string(start[:n]), "\ufeff \t\r\n")
	return strings.HasPrefix(text, "{") && (n < 9 || start[8] != '{' || start[7] != 0)
}

// readShards reads the tensors that an index names, from files in its folder.
func readShards(src source, f io.ReaderAt, size int64, omit bool) (map[string]*tensor.Tensor, []Foreign, error) {
	shards, err := readIndex(src, f, size)
	if err != nil {
		return nil, nil, err
	}
	all, left := map[string]*tensor.Tensor{}, []Foreign(nil)
	for _, name := range slices.Sorted(maps.Keys(shards)) {
		path := filepath.Join(filepath.Dir(src.file), name)
		tensors, without, err := readShard(path, shards[name], omit)
		if err != nil {
			return nil, nil, src.fail(fmt.Errorf("shard %s: %w", name, err))
		}
		left = append(left, without...)
		maps.Copy(all, tensors)
	}
	return all, left, nil
}

// readIndex returns the names of the tensors in each file.
func readIndex(src source, f io.ReaderAt, size int64) (map[string][]string, error) {
	if size > mostHeader {
		return nil, src.bad(atByte(0), fmt.Sprintf("an index of %d bytes", size), fmt.Sprintf("at most %d", mostHeader))
	}
	p := parser{json.NewDecoder(io.NewSectionReader(f, 0, size))}
	var shards map[string][]string
	err := p.object(func(field string) error {
		if field != "weight_map" {
			var other json.RawMessage // metadata, such as total_size
			return p.Decode(&other)
		}
		shards = map[string][]string{}
		return p.object(func(name string) error {
			file, err := p.text()
			if err == nil && (file != filepath.Base(file) || !filepath.IsLocal(file) || strings.ContainsAny(file, `/\:`)) {
				err = fmt.Errorf("tensor %s in the file %s, which is not a name in the folder of the index", quoted(name), quoted(file))
			}
			shards[file] = append(shards[file], name)
			return err
		})
	})
	if err == nil && shards == nil {
		err = fmt.Errorf("JSON without weight_map")
	}
	if err != nil {
		return nil, src.bad(atByte(p.InputOffset()), err.Error(), "the index of a sharded checkpoint, whose weight_map names the file of each tensor")
	}
	return shards, nil
}

// readShard reads the named tensors of a file.
func readShard(path string, names []string, omit bool) (map[string]*tensor.Tensor, []Foreign, error) {
	src := source{"safetensors", path}
	f, size, err := unchecked(src)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if isTorch(f) {
		return torchShard(source{"torch", path}, f, size, names, omit)
	}
	if err := src.checkStart(f, size); err != nil {
		return nil, nil, err
	}
	s, err := readSafetensors(src, f, size)
	if err != nil {
		return nil, nil, err
	}
	if err := src.lacks(names, func(name string) bool { return s.entries[name].kind != nil }); err != nil {
		return nil, nil, err
	}
	return s.some(names, omit)
}

func torchShard(src source, f io.ReaderAt, size int64, names []string, omit bool) (map[string]*tensor.Tensor, []Foreign, error) {
	state, left, err := readState(src, f, size, omit)
	if err != nil {
		return nil, nil, err
	}
	without := map[string]Foreign{}
	for _, l := range left {
		without[l.Key] = l
	}
	if err := src.lacks(names, func(name string) bool { return state[name] != nil || without[name].What != "" }); err != nil {
		return nil, nil, err
	}
	all, some := map[string]*tensor.Tensor{}, []Foreign(nil)
	for _, name := range names {
		switch t, ok := state[name].(*tensor.Tensor); {
		case ok:
			all[name] = t
		case without[name].What != "":
			some = append(some, without[name])
		default:
			return nil, nil, src.bad("key "+quoted(name), typeName(state[name]), "a tensor")
		}
	}
	return all, some, nil
}

// lacks returns an error that lists the names that a shard does not have.
func (s source) lacks(names []string, has func(name string) bool) error {
	const most = 3
	missing := slices.DeleteFunc(slices.Clone(names), has)
	if len(missing) == 0 {
		return nil
	}
	return s.fail(fmt.Errorf("%d of %d tensors of the index are missing, such as %q; the index and the shard may be of different checkpoints", len(missing), len(names), missing[:min(most, len(missing))]))
}
