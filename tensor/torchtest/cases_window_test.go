package torchtest

import (
	"encoding/json"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("window", windows())

// windows returns a case for each fixture. The name of a fixture ends in its options.
func windows() cases {
	all := cases{}
	f, err := readFixtures("window")
	if err != nil {
		return all // TestFixtures reports this error
	}
	for _, c := range f.cases {
		op, options, _ := strings.Cut(c.Name, " ")
		all[c.Name] = windowed(op, []byte(options))
	}
	return all
}

func windowed(op string, options []byte) func(in []T) T {
	var o struct {
		Size, Pad []int
		Mode      string
	}
	json.Unmarshal(options, &o) // a missing option shows in the result
	dims := int(op[len(op)-2] - '0')
	switch strings.TrimRight(op, "123d") {
	case "conv":
		var o convOptions
		json.Unmarshal(options, &o)
		return convolve(dims, o)
	case "conv_transpose":
		var o transposeOptions
		json.Unmarshal(options, &o)
		return transposed(dims, o)
	case "max_pool", "avg_pool":
		var given struct {
			Stride, Padding, Dilation []int
			CeilMode, ExcludePadding  bool
			Divisor                   int
		}
		json.Unmarshal(options, &given)
		p := poolOptions{nn.Stride(given.Stride...), nn.Padding(given.Padding...)}
		if len(given.Dilation) > 0 {
			p = append(p, nn.Dilation(given.Dilation...))
		}
		if given.CeilMode {
			p = append(p, nn.CeilMode())
		}
		if given.ExcludePadding {
			p = append(p, nn.CountIncludePad(false))
		}
		if given.Divisor != 0 {
			p = append(p, nn.DivisorOverride(given.Divisor))
		}
		if op[0] == 'm' {
			return maxPool(dims, o.Size, p)
		}
		return avgPool(dims, o.Size, p)
	case "adaptive_avg_pool":
		f := [...]func(x T, n ...int) T{1: func(x T, n ...int) T { return nn.AdaptiveAvgPool1d(x, n[0]) }, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}[dims]
		return func(in []T) T { return f(in[0], o.Size...) }
	case "adaptive_max_pool":
		f := [...]func(x T, n ...int) T{1: func(x T, n ...int) T { return nn.AdaptiveMaxPool1d(x, n[0]) }, 2: nn.AdaptiveMaxPool2d, 3: nn.AdaptiveMaxPool3d}[dims]
		return func(in []T) T { return f(in[0], o.Size...) }
	case "interpolate":
		var o tensor.InterpolateOptions
		json.Unmarshal(options, &o)
		return resized(o)
	}
	return padded(o.Mode, 0, o.Pad...)
}
