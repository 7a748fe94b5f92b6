package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"halfnote/tensor"
)

// fileVersion is the version of files that Save writes, and the highest that Open reads. docs/recordings.md describes it.
const fileVersion = 1

// fileHead is the first line of a file.
type fileHead struct {
	Halfnote   string   `json:"halfnote"`
	Version    int      `json:"version"`
	Producer   string   `json:"producer"`
	Begun      float64  `json:"begun"` // seconds since 1970
	Notes      []string `json:"notes"`
	Parameters [][]any  `json:"parameters"` // ID, name, dtype, shape, trainable
}

// fileKind is a kind of operations.
type fileKind struct {
	Kind     *int         `json:"k"`
	Op       string       `json:"op"`             // aten's name
	Call     string       `json:"call,omitempty"` // function of torch that the program called, or whose derivative it is
	Module   string       `json:"module,omitempty"`
	Line     string       `json:"line,omitempty"`
	Phase    string       `json:"phase"`
	Again    bool         `json:"recompute,omitempty"`
	Cast     string       `json:"cast,omitempty"`
	Autocast string       `json:"autocast,omitempty"`
	InPlace  bool         `json:"inplace,omitempty"`
	View     bool         `json:"view,omitempty"`
	NoGrad   bool         `json:"nograd,omitempty"`
	Device   string       `json:"device,omitempty"`
	In       []fileTensor `json:"in"`
	Out      []fileTensor `json:"out"`

	Policy string  `json:"policy,omitempty"` // of a recording in Go, which knows these
	Why    string  `json:"why,omitempty"`
	Param  string  `json:"param,omitempty"`
	Bytes  int     `json:"bytes,omitempty"`
	FLOPs  float64 `json:"flops,omitempty"`
}

// fileTensor is the dtype and the shape of a tensor: ["float32",[2,3]].
type fileTensor struct {
	dtype tensor.DType
	shape []int
}

func (t fileTensor) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{t.dtype.String(), append([]int{}, t.shape...)})
}

func (t *fileTensor) UnmarshalJSON(b []byte) error {
	var name string
	if err := json.Unmarshal(b, &[]any{&name, &t.shape}); err != nil {
		return err
	}
	t.dtype = dtypeNamed(name)
	for _, n := range t.shape {
		if n < 0 {
			return fmt.Errorf("a shape has the size %d", n)
		}
	}
	return nil
}

// dtypeNamed returns the dtype of a name, or 0 for one that package tensor does not have.
func dtypeNamed(name string) tensor.DType {
	for _, d := range tensor.DTypes() {
		if d.String() == name {
			return d
		}
	}
	return 0
}

// fileEvent is a call of the training loop, or the end of a step.
type fileEvent struct {
	Event     string    `json:"e"`
	Step      int       `json:"step"`
	At        int       `json:"at"` // number of operations before it
	Line      string    `json:"line,omitempty"`
	NS        int64     `json:"ns,omitempty"`
	Autocast  string    `json:"autocast,omitempty"`
	DType     string    `json:"dtype,omitempty"`
	Shape     []int     `json:"shape,omitempty"`
	Value     fileFloat `json:"value"`
	Loss      fileFloat `json:"loss"`
	ID        int       `json:"id,omitempty"`
	To        int       `json:"to,omitempty"`
	Scale     fileFloat `json:"scale"`
	Before    fileFloat `json:"before"`
	After     fileFloat `json:"after"`
	Limit     fileFloat `json:"limit"`
	Scaler    any       `json:"scaler,omitempty"` // its number; for optimizer.step, whether it made the step
	Optimizer int       `json:"optimizer,omitempty"`
	Name      string    `json:"name,omitempty"`
	Groups    []struct {
		LR  float64 `json:"lr"`
		Eps float64 `json:"eps"`
	} `json:"groups,omitempty"`
	DTypes    []string            `json:"dtypes,omitempty"`
	Grads     int                 `json:"grads,omitempty"`
	Of        int                 `json:"of,omitempty"`
	Grad      []int               `json:"grad,omitempty"`
	Skipped   bool                `json:"skipped,omitempty"`
	Parameter string              `json:"parameter,omitempty"`
	Eval      bool                `json:"eval,omitempty"`
	Error     string              `json:"error,omitempty"`
	Memory    int                 `json:"memory,omitempty"`
	Recorded  bool                `json:"recorded,omitempty"`
	List      [][]json.RawMessage `json:"list,omitempty"`
}

// fileFloat is a number that may be missing, or "inf", "-inf" or "nan".
type fileFloat struct{ value *float64 }

func (f *fileFloat) UnmarshalJSON(b []byte) error {
	var x float64
	switch string(b) {
	case "null":
		return nil
	case `"inf"`:
		x = math.Inf(1)
	case `"-inf"`:
		x = math.Inf(-1)
	case `"nan"`:
		x = math.NaN()
	default:
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
	}
	f.value = &x
	return nil
}

func (f fileFloat) MarshalJSON() ([]byte, error) {
	switch {
	case f.value == nil:
		return []byte("null"), nil
	case number(*f.value) == nil:
		return json.Marshal(strings.ToLower(strings.TrimPrefix(fmt.Sprint(*f.value), "+")))
	}
	return json.Marshal(*f.value)
}

func (f fileFloat) or(none float64) float64 {
	if f.value == nil {
		return none
	}
	return *f.value
}

// fileCounts are elements, zeros, subnormals, infinities, NaN, smallest and largest magnitude.
func fileCounts(b json.RawMessage) (c tensor.Counts, err error) {
	var low, high *float64
	if err = json.Unmarshal(b, &[]any{&c.Count, &c.Zeros, &c.Subnormals, &c.Infs, &c.NaNs, &low, &high}); err != nil {
		return c, fmt.Errorf("counts %s: %w", b, err)
	}
	if c.AbsMin, c.AbsMax = math.NaN(), math.NaN(); low != nil && high != nil {
		c.AbsMin, c.AbsMax = *low, *high
	}
	return c, nil
}

// row is an operation of the file, below those of package tensor: a function of torch may be several.
type fileRow struct {
	*fileKind
	step, call      int
	start, duration time.Duration
	in, out         []int
	counts, wide    *tensor.Counts
	lost            map[int]int
	hashes          *hashed
}
