package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"halfnote/tensor"
)

// Recording is a recording that [Open] has read from a file. Everything that needs only what was recorded works as on a [Recorder]: charts,
// tables, totals, steps. What needs the model itself, such as a replay of gradients or a fork of the run, does not.
type Recording struct {
	*Recorder
	Producer   string // program that wrote it: "torch 2.15.0", "halfnote 0.2.0"
	Notes      []string
	Parameters []RecordedParameter
	Loop       []LoopCall         // calls of the training loop, in order
	Gradients  []RecordedGradient // gradients before the step of their optimizer, in order
	Results    map[int]Rounded    // results that were rounded, by ID; casts for an operation too
}

// RecordedParameter is a parameter of the model.
type RecordedParameter struct {
	ID        int
	Name      string
	DType     tensor.DType
	Shape     []int
	Trainable bool
}

// LoopCall is a call of the training loop. Fields that its kind does not have are zero; numbers that are unknown are NaN.
type LoopCall struct {
	Name      string // "backward", "grad", "scale", "unscale", "scaler.step", "update", "optimizer.step", "zero_grad", "clip_grad_norm_", "clip_grad_value_", "lr_scheduler.step", "error"
	Step      int    // training step
	Op        int    // number of operations before it
	Source    string // line: "train.py, line 11"
	Autocast  string // dtype to which autocast cast there, "" outside regions
	DType     tensor.DType
	Shape     []int
	Loss      float64 // loss of backward and scale
	ID        int     // ID of the loss; for scale, Scaled is that of the result
	Scaled    int
	Scale     float64 // loss scale before the call
	After     float64 // loss scale after update
	Limit     float64 // limit of clipping
	Scaler    int     // numbers of the scaler and of the optimizer
	Optimizer int
	Class     string // class of the optimizer
	DTypes    []string
	Eps       float64 // smallest eps of the optimizer, 0 without one
	Grads     int     // number of parameters that have a gradient, of Of
	Of        int
	Gradient  [2]int // ID and version of the first gradient
	ByScaler  bool   // the step of an optimizer that a scaler made
	Skipped   bool
	Param     string // parameter whose gradient was not finite
	Eval      bool   // the model was in evaluation mode
	Error     string
}

// RecordedGradient is the gradient of a parameter at a step. ID is 0 for a parameter without one.
type RecordedGradient struct {
	Step, Op  int
	Parameter int
	ID        int
	Scale     float64 // loss scale that it carried
	Counts    tensor.Counts
}

// Rounded is a result next to the same in the dtype from which it was rounded, or in float32.
type Rounded struct {
	Result, Wide tensor.Counts
	Lost         map[int]int // number of elements that became 0, by their power of two; only of gradients
}

// Open reads a recording from a file that halfnote.record in Python or [Recorder.Save] wrote; it may be compressed with gzip. The error names the line that is wrong.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: open: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w; %s is not a whole recording", err, path)
	}
	return r, nil
}

// Read is [Open] for a reader.
func Read(from io.Reader) (*Recording, error) {
	if from == nil {
		return nil, fmt.Errorf("trace: read: the reader is nil; want an io.Reader")
	}
	buffered := bufio.NewReaderSize(from, 1<<16)
	if head, _ := buffered.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("trace: read: %w", err)
		}
		buffered = bufio.NewReaderSize(unpacked, 1<<16)
	}
	l := newLoader()
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, 1<<26)
	n := 0
	for lines.Scan() {
		n++
		if err := l.line(lines.Bytes(), n == 1); err != nil {
			return nil, fmt.Errorf("trace: read: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("trace: read: after line %d: %w", n, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("trace: read: the file is empty; want a recording")
	}
	l.finish()
	return l.rec, nil
}
