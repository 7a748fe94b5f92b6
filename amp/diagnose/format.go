package diagnose

// Format is a floating-point format for gradients. Its limits are the values at which rounding to
// nearest even changes the kind of the result, not numbers of the format itself: in float16 a
// value becomes 0 up to 2⁻²⁵, half of the smallest number, and infinite from 65520, halfway from
// the largest one to the next power of two.
type Format struct {
	name   string
	zero   float64 // up to here, included, a value becomes 0
	normal float64 // from here, included, it becomes a normal number
	over   float64 // from here, included unless ends, it is too large
	ends   bool    // over is the last value that rounds to the largest number
	max    float64 // the largest number
}

// The formats. TF32 is the format of float32 operands in tensor cores: 10 bits of fraction and the
// exponents of float32, rounded to nearest even here. A number that is too large becomes an infinity,
// or in E4M3, which has none, the largest number, 448; both count as overflow.
var (
	Float16  = Format{name: "float16", zero: 0x1p-25, normal: 0x1p-14 - 0x1p-25, over: 65520, max: 65504}
	BFloat16 = Format{name: "bfloat16", zero: 0x1p-134, normal: 0x1p-126 - 0x1p-134, over: 0x1.ffp127, max: 0x1.fep127}
	TF32     = Format{name: "tf32", zero: 0x1p-137, normal: 0x1p-126 - 0x1p-137, over: 0x1.ffep127, max: 0x1.ffcp127}
	E4M3     = Format{name: "float8_e4m3fn", zero: 0x1p-10, normal: 0x1p-6 - 0x1p-10, over: 464, ends: true, max: 448}
	E5M2     = Format{name: "float8_e5m2", zero: 0x1p-17, normal: 0x1p-14 - 0x1p-17, over: 61440, max: 57344}
)

// Formats returns all formats, those with the widest range first.
func Formats() []Format { return []Format{TF32, BFloat16, Float16, E5M2, E4M3} }

// String returns the format's name, "float16".
func (f Format) String() string { return f.name }
