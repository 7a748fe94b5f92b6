package driver

// DType is an element type. Its numbers are stable: they are in files.
type DType uint8

// The element types, in the order in which they promote.
const (
	Invalid DType = iota
	Float16
	BFloat16
	Float32
	Float64
)

var dtypes = [...]struct {
	name, short string
	size        int
}{
	Invalid:  {"invalid", "?", 0},
	Float16:  {"float16", "fp16", 2},
	BFloat16: {"bfloat16", "bf16", 2},
	Float32:  {"float32", "fp32", 4},
	Float64:  {"float64", "fp64", 8},
}

// String returns torch's name without "torch.": "float16".
func (d DType) String() string { return dtypes[d.known()].name }

// Short returns the name that charts and tables use: "fp16".
func (d DType) Short() string { return dtypes[d.known()].short }

// Size returns the bytes of one element.
func (d DType) Size() int { return dtypes[d.known()].size }

func (d DType) known() DType {
	if int(d) >= len(dtypes) {
		return Invalid
	}
	return d
}
