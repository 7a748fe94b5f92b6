package kernel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// Front ends identify a cell by a path computed from its source: a prefix, a hash of
// the source, a suffix. No files of these names exist. Each kernel has its own prefix, so
// that front ends send their breakpoints again after a restart. JupyterLab shows a path
// that contains "ipykernel_" as "Cell [n]", and any other path as it is.
const (
	hashSeed   = uint32(0x9747b28c)
	cellSuffix = ".go"
)

func (k *kernel) cellPrefix() string {
	if k.debugger() == nil {
		return ""
	}
	return "/halfnote/ipykernel_" + k.session.ID[:8] + "/"
}

// cellPath is the path of a cell.
func (k *kernel) cellPath(code string) string {
	return k.cellPrefix() + strconv.FormatUint(uint64(murmur2([]byte(code), hashSeed)), 10) + cellSuffix
}

// murmur2 is Austin Appleby's 32-bit MurmurHash2, the only hash that Jupyter's front
// ends support.
func murmur2(data []byte, seed uint32) uint32 {
	const m, r = 0x5bd1e995, 24
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> r
		h = h*m ^ k*m
	}
	for i := len(data) - 1; i >= 0; i-- {
		h ^= uint32(data[i]) << (8 * i)
		if i == 0 {
			h *= m
		}
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

// keep records a cell's source by its path.
func (d *debugging) keep(path, code string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sources == nil {
		d.sources = map[string]string{}
	}
	d.sources[path] = code
}

func (k *kernel) debugDumpCell(q *debugRequest) (any, error) {
	var a struct {
		Code *string `json:"code"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	if a.Code == nil {
		return nil, errNoCode
	}
	path := k.cellPath(*a.Code)
	k.debugging.keep(path, *a.Code)
	return object{"sourcePath": path}, nil
}

// debugPath returns the source of the cell that the arguments give by path.
type debugPath struct {
	Source struct {
		Path string `json:"path"`
	} `json:"source"`
	Breakpoints []struct {
		Line int `json:"line"`
	} `json:"breakpoints"`
}

func (k *kernel) debugSource(q *debugRequest) (any, error) {
	var a debugPath
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	d := &k.debugging
	d.mu.Lock()
	defer d.mu.Unlock()
	code, ok := d.sources[a.Source.Path]
	if !ok {
		return nil, fmt.Errorf("source: cell %q not found", a.Source.Path)
	}
	return object{"content": code, "mimeType": k.eval.Language().MIMEType}, nil
}

func (k *kernel) debugBreakpoints(q *debugRequest) (any, error) {
	e := k.debugger()
	if e == nil {
		return object{"breakpoints": []any{}}, nil
	}
	var a debugPath
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	d := &k.debugging
	d.mu.Lock()
	code, known := d.sources[a.Source.Path]
	d.mu.Unlock()
	lines := []int{}
	for _, b := range a.Breakpoints {
		lines = append(lines, b.Line)
	}
	if known {
		lines = e.SetBreakpoints(code, lines)
	}
	points := []object{}
	for i, line := range lines {
		points = append(points, object{"id": i + 1, "verified": known, "line": line, "source": object{"path": a.Source.Path}})
	}
	if known {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.lines == nil {
			d.lines = map[string][]int{}
		}
		if d.lines[a.Source.Path] = lines; len(lines) == 0 {
			delete(d.lines, a.Source.Path)
		}
	}
	return object{"breakpoints": points}, nil
}

// debugThread returns the thread that a request refers to.
func debugThread(q *debugRequest) (int, error) {
	var a struct {
		Thread int `json:"threadId"`
	}
	err := readArguments(q, &a)
	return a.Thread, err
}

func (k *kernel) debugThreads(*debugRequest) (any, error) {
	threads := []object{}
	if e := k.debugger(); e != nil {
		for _, id := range e.Stopped() {
			threads = append(threads, object{"id": id, "name": fmt.Sprintf("goroutine %d", id)})
		}
	}
	return object{"threads": threads}, nil
}

func (k *kernel) debugStack(q *debugRequest) (any, error) {
	id, err := debugThread(q)
	if err != nil {
		return nil, err
	}
	stack := k.debugger().Stack(id)
	frames := []object{}
	for i, f := range stack {
		path := k.cellPath(f.Code)
		k.debugging.keep(path, f.Code)
		frames = append(frames, object{"id": i + 1, "name": f.Function, "line": f.Line, "column": 1, "source": object{"path": path, "name": f.Function}})
	}
	d := &k.debugging
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frames = stack
	return object{"stackFrames": frames, "totalFrames": len(frames)}, nil
}

// debugResume answers continue, next, stepIn and stepOut. JupyterLab always sends
// threadId 1 with continue, whichever thread has stopped.
func (k *kernel) debugResume(q *debugRequest) (any, error) {
	id, err := debugThread(q)
	if err == nil {
		if stopped := k.debugger().Stopped(); len(stopped) > 0 && !slices.Contains(stopped, id) {
			id = stopped[0]
		}
		err = k.debugger().Resume(id, q.Command)
	}
	return object{"allThreadsContinued": true}, err
}

func (k *kernel) debugPause(*debugRequest) (any, error) {
	k.debugger().Pause()
	return object{}, nil
}
