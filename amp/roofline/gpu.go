package roofline

import (
	"fmt"
	"strings"
	"time"

	"halfnote/display"
)

// GPU is what a maker says that a device can do at most.
type GPU struct {
	Name string
	// Products are floating-point operations a second in dense matrix products, by
	// dtype as "float16"; "tf32" is float32 on tensor cores. Those of 16 bits add in
	// float32. A dtype that is not there runs like float32.
	Products  map[string]float64
	Vector    float64       // floating-point operations a second elsewhere
	Bandwidth float64       // bytes a second to and from memory
	Launch    time.Duration // from one kernel to the next, however short
	Source    string        // the document that the numbers are from
}

const (
	tera = 1e12
	giga = 1e9
)

// launch is the time from one short kernel to the next when the host does not wait
// between them, on a V100: A. Gray, "Getting Started with CUDA Graphs", NVIDIA
// Technical Blog (2019). Frameworks take longer for each operation.
const launch = 3800 * time.Nanosecond

// gpus are sorted by name. Numbers are for dense matrices; where a document has them
// with sparsity only, half of those.
var gpus = []GPU{
	{"A100-40", map[string]float64{"float32": 19.5 * tera, "tf32": 156 * tera, "float16": 312 * tera, "bfloat16": 312 * tera}, 19.5 * tera, 1555 * giga, launch,
		"NVIDIA A100 Tensor Core GPU datasheet (SXM, 40 GB), 2020"},
	{"A100-80", map[string]float64{"float32": 19.5 * tera, "tf32": 156 * tera, "float16": 312 * tera, "bfloat16": 312 * tera}, 19.5 * tera, 2039 * giga, launch,
		"NVIDIA A100 80GB Tensor Core GPU datasheet (SXM), 2021"},
	{"H100", map[string]float64{"float32": 67 * tera, "tf32": 494.5 * tera, "float16": 989.5 * tera, "bfloat16": 989.5 * tera, "float8_e4m3fn": 1979 * tera, "float8_e5m2": 1979 * tera}, 67 * tera, 3350 * giga, launch,
		"NVIDIA H100 Tensor Core GPU datasheet (SXM), 2023"},
	{"L4", map[string]float64{"float32": 30.3 * tera, "tf32": 60 * tera, "float16": 121 * tera, "bfloat16": 121 * tera, "float8_e4m3fn": 242.5 * tera, "float8_e5m2": 242.5 * tera}, 30.3 * tera, 300 * giga, launch,
		"NVIDIA L4 Tensor Core GPU datasheet, 2023"},
	{"M1 Max", map[string]float64{"float32": 10.4 * tera}, 10.4 * tera, 400 * giga, launch,
		"Apple, \"Introducing M1 Pro and M1 Max\", 18 October 2021 (32 GPU cores); no figure for float16"},
	{"RTX 3090", map[string]float64{"float32": 35.6 * tera, "tf32": 35.6 * tera, "float16": 71 * tera, "bfloat16": 71 * tera}, 35.6 * tera, 936 * giga, launch,
		"NVIDIA Ampere GA102 GPU Architecture, whitepaper, 2021"},
	{"RTX 4090", map[string]float64{"float32": 82.6 * tera, "tf32": 82.6 * tera, "float16": 165.2 * tera, "bfloat16": 165.2 * tera, "float8_e4m3fn": 330.3 * tera, "float8_e5m2": 330.3 * tera}, 82.6 * tera, 1008 * giga, launch,
		"NVIDIA Ada GPU Architecture, whitepaper, 2023"},
	{"T4", map[string]float64{"float32": 8.1 * tera, "float16": 65 * tera}, 8.1 * tera, 320 * giga, launch,
		"NVIDIA T4 Tensor Core GPU datasheet, 2019"},
	{"V100", map[string]float64{"float32": 15.7 * tera, "float16": 125 * tera}, 15.7 * tera, 900 * giga, launch,
		"NVIDIA V100 Tensor Core GPU datasheet (SXM2), 2020"},
}

// List is a table of devices.
type List []GPU

// GPUs returns all devices with their numbers and where those are from.
func GPUs() List { return append(List(nil), gpus...) }

// Named returns the device of a name, "T4"; "A100" is that of 40 GB. It panics if there
// is none.
func Named(name string) GPU {
	if strings.EqualFold(name, "A100") {
		name = "A100-40"
	}
	var names []string
	for _, g := range gpus {
		if strings.EqualFold(g.Name, name) {
			return g
		}
		names = append(names, g.Name)
	}
	panic(fmt.Errorf("roofline: named: %q; expected one of %s, or a GPU of your own", name, strings.Join(names, ", ")))
}

func (l List) table() display.Bundle {
	head := []string{"device", "float32", "TF32", "float16", "bfloat16", "8 bits", "memory", "launch", "source"}
	var rows [][]any
	for _, g := range l {
		row := []any{g.Name}
		for _, d := range []string{"float32", "tf32", "float16", "bfloat16", "float8_e4m3fn"} {
			if p, ok := g.Products[d]; ok {
				row = append(row, fmt.Sprintf("%.4g TFLOP/s", p/tera))
			} else {
				row = append(row, "–")
			}
		}
		rows = append(rows, append(row, fmt.Sprintf("%.4g GB/s", g.Bandwidth/giga), g.Launch, g.Source))
	}
	return display.Table(head, rows)
}

// String returns the list as text.
func (l List) String() string { return l.table().String() }

// HTML returns the list as a table.
func (l List) HTML() string { return fmt.Sprint(l.table().Data["text/html"]) }
