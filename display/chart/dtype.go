package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// dtype is the appearance of a dtype. Its letter and dash pattern repeat the information of its colour.
type dtype struct {
	name   string
	letter string
	color  func(Theme) color.NRGBA
	dashes []vg.Length
}

func neutral(t Theme) color.NRGBA { return t.Neutral }

// strongNeutral is further from the background than neutral.
func strongNeutral(t Theme) color.NRGBA {
	if t.Background == Dark.Background {
		return hex(0xdfe3e8)
	}
	return hex(0x353d4a)
}

// dtypes is sorted by precision and range; lanes are drawn in this order.
var dtypes = []dtype{
	{"float64", "64", neutral, nil},
	{"float32", "32", func(t Theme) color.NRGBA { return t.Float32 }, nil},
	{"bfloat16", "B", func(t Theme) color.NRGBA { return t.BFloat16 }, []vg.Length{2, 2}},
	{"float16", "16", func(t Theme) color.NRGBA { return t.Float16 }, []vg.Length{6, 3}},
	{"float8_e5m2", "e5", neutral, []vg.Length{1, 2}},
	{"float8_e4m3fn", "e4", strongNeutral, []vg.Length{1, 4}},
	{"int64", "i", neutral, nil},
	{"int32", "i", neutral, nil},
	{"int16", "i", neutral, nil},
	{"int8", "i", neutral, nil},
	{"uint8", "u", neutral, nil},
	{"bool", "b", neutral, nil},
}

// dtypeOf returns the entry of name, or a neutral one, and its position in the table.
func dtypeOf(name string) (d dtype, order int) {
	for i, d := range dtypes {
		if d.name == name {
			return d, i
		}
	}
	return dtype{name, "–", neutral, nil}, len(dtypes)
}

// kindsOf returns a kind for each of the distinct dtypes of a list, and the index of each element's. One without a name is not in the
// legend.
func kindsOf(list []string) (kinds []kind, at []int) {
	index := map[string]int{}
	for _, name := range list {
		i, ok := index[name]
		if !ok {
			i = len(kinds)
			d, _ := dtypeOf(name)
			kinds = append(kinds, kind{name: name, color: d.color, dashes: d.dashes, symbol: dot, quiet: name == ""})
			index[name] = i
		}
		at = append(at, i)
	}
	return kinds, at
}
