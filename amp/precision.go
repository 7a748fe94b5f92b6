package amp

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

// dtypeNames are the names of dtypes in text: those of NumPy and torch, and jmp's short ones;
// half is float16.
var dtypeNames = map[string]tensor.DType{
	"float16": tensor.Float16, "f16": tensor.Float16, "half": tensor.Float16,
	"bfloat16": tensor.BFloat16, "bf16": tensor.BFloat16,
	"float32": tensor.Float32, "f32": tensor.Float32, "full": tensor.Float32, "float": tensor.Float32,
	"float64": tensor.Float64, "f64": tensor.Float64, "double": tensor.Float64,
}

func dtypeOf(call, name string) tensor.DType {
	d, ok := dtypeNames[name]
	if !ok {
		panic(&Error{Code: "dtype", Call: call, Why: fmt.Sprintf("unknown dtype %q", name), Cure: "want float16 (f16, half), bfloat16 (bf16), float32 (f32, full) or float64 (f64)"})
	}
	return d
}

// Precision holds the dtypes of a module's parameters, computation and output. It is
// jmp.Policy.
type Precision struct{ Param, Compute, Output tensor.DType }

// MixedFloat16 is Keras' mixed_float16: parameters in float32, everything else in float16.
// MixedBFloat16 is mixed_bfloat16.
var (
	MixedFloat16  = Precision{tensor.Float32, tensor.Float16, tensor.Float16}
	MixedBFloat16 = Precision{tensor.Float32, tensor.BFloat16, tensor.BFloat16}
)

// ParsePrecision reads "p=f32,c=f16,o=f32", or one dtype for all three. p (or params) defaults
// to float32, c (or compute) to p, and o (or output) to c. It panics with an *[Error] for any
// other key or dtype. It is jmp.get_policy.
func ParsePrecision(text string) Precision {
	switch text {
	case "mixed_float16":
		return MixedFloat16
	case "mixed_bfloat16":
		return MixedBFloat16
	}
	if !strings.Contains(text, "=") {
		d := dtypeOf("ParsePrecision", text)
		return Precision{d, d, d}
	}
	p := Precision{Param: tensor.Float32}
	for part := range strings.SplitSeq(text, ",") {
		key, name, _ := strings.Cut(part, "=")
		d := dtypeOf("ParsePrecision", name)
		switch key {
		case "p", "params":
			p.Param = d
		case "c", "compute":
			p.Compute = d
		case "o", "output":
			p.Output = d
		default:
			panic(&Error{Code: "precision", Call: "ParsePrecision", Why: fmt.Sprintf("unknown key %q in %q", key, text), Cure: "want p, c and o, or params, compute and output, for example p=f32,c=f16,o=f32"})
		}
	}
	if p.Compute == 0 {
		p.Compute = p.Param
	}
	if p.Output == 0 {
		p.Output = p.Compute
	}
	return p
}

// WithOutput returns p with another output dtype. It is
// jmp.Policy.with_output_dtype.
func (p Precision) WithOutput(d tensor.DType) Precision {
	p.Output = d
	return p
}

// String returns "p=f32,c=f16,o=f32".
func (p Precision) String() string {
	short := func(d tensor.DType) string {
		for _, name := range []string{"f16", "bf16", "f32", "f64"} {
			if dtypeNames[name] == d {
				return name
			}
		}
		return d.String()
	}
	return fmt.Sprintf("p=%s,c=%s,o=%s", short(p.Param), short(p.Compute), short(p.Output))
}

// castFloat returns t cast to d if it is floating point.
func castFloat(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if d == 0 || !t.DType().IsFloat() {
		return t
	}
	return t.To(d)
}
