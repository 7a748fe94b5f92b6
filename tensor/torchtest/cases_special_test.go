package torchtest

import "fmt"

var _ = family("special", special())

func special() cases {
	all := cases{
		"polygamma odd":   func(in []T) T { return in[0].Polygamma(1) },
		"polygamma poles": func(in []T) T { return in[0].Polygamma(2) },
	}
	for name, f := range map[string]func(T) T{"lgamma": T.Lgamma, "digamma": T.Digamma} {
		for _, form := range []string{"", " odd", " near", " negative", " integers", " poles", " large"} {
			if name+form != "digamma large" {
				all[name+form] = func(in []T) T { return f(in[0]) }
			}
		}
	}
	for _, n := range []int{0, 1, 2, 3, 5} {
		all[fmt.Sprint("polygamma ", n)] = func(in []T) T { return in[0].Polygamma(n) }
	}
	return all
}
