package driver

// DType is an element type. Its numeric values are stable: files contain them.
type DType uint8

// The element types.
const (
	Invalid DType = iota
	Float16
	BFloat16
	Float32
	Float64
	Float8E4M3 // 4 exponent bits, 3 fraction bits, no infinity: torch.float8_e4m3fn
	Float8E5M2 // 5 exponent bits, 2 fraction bits: torch.float8_e5m2
	Int64
	Int32
	Uint8
	Bool // one byte, 0 or 1
	Int8
	Int16
)

// Kind is the kind of a dtype's elements, in promotion order.
type Kind uint8

// The kinds.
const (
	Boolean Kind = iota
	Integer
	Floating
)

var dtypes = [...]struct {
	name, short string
	size        int
	kind        Kind
}{
	Invalid:    {"invalid", "?", 0, Boolean},
	Float16:    {"float16", "fp16", 2, Floating},
	BFloat16:   {"bfloat16", "bf16", 2, Floating},
	Float32:    {"float32", "fp32", 4, Floating},
	Float64:    {"float64", "fp64", 8, Floating},
	Float8E4M3: {"float8_e4m3fn", "e4m3", 1, Floating},
	Float8E5M2: {"float8_e5m2", "e5m2", 1, Floating},
	Int64:      {"int64", "i64", 8, Integer},
	Int32:      {"int32", "i32", 4, Integer},
	Uint8:      {"uint8", "u8", 1, Integer},
	Bool:       {"bool", "bool", 1, Boolean},
	Int8:       {"int8", "i8", 1, Integer},
	Int16:      {"int16", "i16", 2, Integer},
}

// DTypes returns all element types except Invalid.
func DTypes() []DType {
	list := make([]DType, 0, len(dtypes)-1)
	for d := Invalid + 1; int(d) < len(dtypes); d++ {
		list = append(list, d)
	}
	return list
}

// DTypesOf appends the dtypes of views to list.
func DTypesOf(list []DType, views []View) []DType {
	for _, v := range views {
		list = append(list, v.DType)
	}
	return list
}

// AllDTypes reports whether list holds exactly n dtypes, each equal to d.
func AllDTypes(list []DType, n int, d DType) bool {
	for _, other := range list {
		if other != d {
			return false
		}
	}
	return len(list) == n
}

// String returns torch's name without "torch.": "float16".
func (d DType) String() string { return dtypes[d.known()].name }

// Short returns the name that charts and tables use: "fp16".
func (d DType) Short() string { return dtypes[d.known()].short }

// Size returns the number of bytes of an element.
func (d DType) Size() int { return dtypes[d.known()].size }

// Kind returns the kind of the elements.
func (d DType) Kind() Kind { return dtypes[d.known()].kind }

// IsFloat reports whether d is a floating-point type. It is
// torch.dtype.is_floating_point.
func (d DType) IsFloat() bool { return d.Kind() == Floating }

// IsStorage reports whether d can only be stored and converted, not computed with: the two
// 8-bit floating-point types.
func (d DType) IsStorage() bool { return d == Float8E4M3 || d == Float8E5M2 }

// Wide returns the type in which arithmetic on d is done: float32 for the halves,
// int64 for integers and bool, d itself for float32 and float64.
func (d DType) Wide() DType {
	switch {
	case d == Invalid || d == Float64:
		return d
	case d.IsFloat():
		return Float32
	}
	return Int64
}

func (d DType) known() DType {
	if int(d) >= len(dtypes) {
		return Invalid
	}
	return d
}
