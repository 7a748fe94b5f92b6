package torchtest

import (
	"encoding/json"
	"strings"

	"halfnote/tensor"
)

var _ = family("window", windows())

// windows returns a case for each fixture. The name of a fixture ends in its options.
func windows() cases {
	all := cases{}
	f, err := readFixtures("window")
	if err != nil {
		return all // TestFixtures reports it
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
		var p poolOptions
		json.Unmarshal(options, &p)
		if op[0] == 'm' {
			return maxPool(dims, o.Size, p)
		}
		return avgPool(dims, o.Size, p)
	case "adaptive_avg_pool":
		f := [...]func(x T, n ...int) T{1: T.AdaptiveAvgPool1d, 2: T.AdaptiveAvgPool2d, 3: T.AdaptiveAvgPool3d}[dims]
		return func(in []T) T { return f(in[0], o.Size...) }
	case "adaptive_max_pool":
		f := [...]func(x T, n ...int) T{1: T.AdaptiveMaxPool1d, 2: T.AdaptiveMaxPool2d, 3: T.AdaptiveMaxPool3d}[dims]
		return func(in []T) T { return f(in[0], o.Size...) }
	case "interpolate":
		var o tensor.InterpolateOptions
		json.Unmarshal(options, &o)
		return resized(o)
	}
	return padded(o.Mode, 0, o.Pad...)
}
