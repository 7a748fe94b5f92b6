package torchtest

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

var _ = family("statistics", statistics())

func statistics() cases {
	shares := []float64{0, 0.1, 0.3, 0.5, 0.77, 1}
	plain := tensor.QuantileOptions{}
	nanmedian := func(dim, i int) func(in []T) T {
		return func(in []T) T { return listOf(in[0].NanMedian(dim))[i] }
	}
	histogram := func(bins int, o tensor.HistogramOptions, i int) func(in []T) T {
		return func(in []T) T { return listOf(in[0].Histogram(bins, o))[i] }
	}
	isin := func(in []T) T { return in[0].IsIn(in[1]) }
	all := cases{
		"quantile first dimension":   func(in []T) T { return in[0].Quantiles(shares, 0, plain) },
		"quantile of one":            func(in []T) T { return in[0].Quantiles(shares, 0, plain) },
		"nanquantile one share":      func(in []T) T { return in[0].NanQuantile(0.4, 0) },
		"nanquantile gradient":       func(in []T) T { return in[0].NanQuantile(0.4, 1) },
		"nanmedian":                  nanmedian(1, 0),
		"nanmedian where":            nanmedian(1, 1),
		"nanmedian first":            nanmedian(0, 0),
		"nanmedian integers":         nanmedian(1, 0),
		"nanmedian one":              nanmedian(0, 0),
		"cov correction":             func(in []T) T { return in[0].CovWith(0, nil, nil) },
		"cov counts":                 func(in []T) T { return in[0].CovWith(1, in[1], nil) },
		"cov weights":                func(in []T) T { return in[0].CovWith(1, nil, in[1]) },
		"cov all":                    func(in []T) T { return in[0].CovWith(2, in[1], in[2]) },
		"isin":                       isin,
		"isin integers":              isin,
		"isin mixed":                 isin,
		"isin empty":                 func(in []T) T { return in[0].IsIn(tensor.Zeros(0)) },
		"histogram":                  histogram(5, tensor.HistogramOptions{}, 0),
		"histogram edges":            histogram(5, tensor.HistogramOptions{}, 1),
		"histogram range":            histogram(4, tensor.HistogramOptions{Low: -1, High: 1}, 0),
		"histogram at edges":         histogram(4, tensor.HistogramOptions{High: 4}, 0),
		"histogram density":          histogram(4, tensor.HistogramOptions{Low: -2, High: 1, Density: true}, 0),
		"histogram of one":           histogram(2, tensor.HistogramOptions{}, 1),
		"cumulative_trapezoid":       func(in []T) T { return in[0].CumulativeTrapezoid(0.5, -1) },
		"cumulative_trapezoid first": func(in []T) T { return in[0].CumulativeTrapezoid(1, 0) },
		"histogram weight": func(in []T) T {
			y, _ := in[0].Histogram(4, tensor.HistogramOptions{Low: -1, High: 1, Weight: in[1]})
			return y
		},
	}
	for _, form := range []string{"", " vector", " integers"} {
		all["cov"+form] = func(in []T) T { return in[0].Cov() }
	}
	for _, mode := range strings.Fields("linear lower higher midpoint nearest") {
		o := tensor.QuantileOptions{Interpolation: mode}
		all["quantile several "+mode] = func(in []T) T { return in[0].Quantiles(shares, 1, o) }
		all["quantile holes "+mode] = func(in []T) T { return in[0].Quantiles(shares, 1, o) }
		all["nanquantile "+mode] = func(in []T) T { return in[0].NanQuantiles(shares, 1, o) }
	}
	for i, what := range []string{"", " inverse", " counts"} {
		all["unique dim"+what] = func(in []T) T { return listOf(in[0].UniqueDim(0))[i] }
		all["unique last"+what] = func(in []T) T { return listOf(in[0].UniqueDim(-1))[i] }
		all["unique_consecutive"+what] = func(in []T) T { return listOf(in[0].UniqueConsecutive())[i] }
		all["unique_consecutive all"+what] = func(in []T) T { return listOf(in[0].UniqueConsecutive())[i] }
		all["unique_consecutive dim"+what] = func(in []T) T { return listOf(in[0].UniqueConsecutiveDim(0))[i] }
		all["unique_consecutive columns"+what] = func(in []T) T { return listOf(in[0].UniqueConsecutiveDim(1))[i] }
	}
	for _, k := range []int{-2, 0, 1, 9} {
		all[fmt.Sprint("tril_indices ", k)] = func([]T) T { return tensor.TrilIndices(3, 4, k) }
		all[fmt.Sprint("triu_indices ", k)] = func([]T) T { return tensor.TriuIndices(3, 4, k) }
	}
	return all
}
