package roofline

import (
	"fmt"
	"html"
	"strings"
	"time"

	"halfnote/display"
)

// GPU holds the peak numbers of a device: the manufacturer's at its boost clock, on dense matrices, or
// measured ones, also of a CPU.
type GPU struct {
	Name string
	// Products are floating-point operations per second in dense matrix products, by dtype, such
	// as "float16"; "tf32" is float32 on tensor cores. 16-bit and 8-bit products are summed in
	// float32. A missing dtype runs at the rate of float32.
	Products  map[string]float64
	Vector    float64       // floating-point operations per second elsewhere, in float32
	Bandwidth float64       // bytes per second to and from memory
	Launch    time.Duration // shortest time from one kernel to the next
	Source    string        // source of the numbers, with those that are unconfirmed
	Measured  bool          // the numbers are measured rates, not the manufacturer's
	// AlignedOnly means that 16-bit products use tensor cores only if all their sizes are
	// multiples of 8, as with cuBLAS before version 11. It is not set for any device here,
	// because later versions always use them.
	AlignedOnly bool
}

const (
	tera = 1e12
	giga = 1e9
)

// launch is the time from one short kernel to the next when the host does not wait between them;
// the kernel itself runs for 2.9 µs of it. It is 9.6 µs when the host waits, and 3.4 µs in a CUDA
// graph.
const launch = 3800 * time.Nanosecond

const launchNote = "Launch is from A. Gray, \"Getting Started with CUDA Graphs\", NVIDIA Technical Blog, 5 September 2019: 3.8 µs for a kernel of 2.9 µs on a V100 with CUDA 10.1. For the other devices it is not confirmed: kernels of a few elements have been seen to follow one another in 2.1 µs (NVBench on an RTX 3060 Laptop), and frameworks take longer for each operation."

// gpus is sorted by name. NVIDIA's newer documents give rates "with sparsity", which are twice
// those for dense matrices, alone or after a slash; the table has the dense ones. GeForce cards
// accumulate products of 16 and 8 bits in float32 at half the rate of float16, and the table has
// that half; other cards have the same rate for both.
//
// The numbers are from quotations of the documents, except for the "In-Depth" article, whose table
// was read directly.
var gpus = []GPU{
	{Name: "A100-40", Products: map[string]float64{"float32": 19.5 * tera, "tf32": 156 * tera, "float16": 312 * tera, "bfloat16": 312 * tera}, Vector: 19.5 * tera, Bandwidth: 1555 * giga, Launch: launch,
		Source: "NVIDIA Ampere Architecture In-Depth, NVIDIA Technical Blog, 2020, table 3: A100 (SXM4), FP32 19.5, TF32 156/312, FP16 and BF16 312/624 TFLOPS (dense/sparse), 1555 GB/s; the PCIe card has the same"},
	{Name: "A100-80", Products: map[string]float64{"float32": 19.5 * tera, "tf32": 156 * tera, "float16": 312 * tera, "bfloat16": 312 * tera}, Vector: 19.5 * tera, Bandwidth: 2039 * giga, Launch: launch,
		Source: "NVIDIA A100 Tensor Core GPU datasheet: A100 80GB SXM, FP32 19.5, TF32 156 | 312*, FP16 and BF16 312 | 624* TFLOPS (* with sparsity), 2039 GB/s; PCIe 1935 GB/s"},
	{Name: "H100", Products: map[string]float64{"float32": 66.9 * tera, "tf32": 494.7 * tera, "float16": 989.4 * tera, "bfloat16": 989.4 * tera, "float8_e4m3fn": 1978.9 * tera, "float8_e5m2": 1978.9 * tera}, Vector: 66.9 * tera, Bandwidth: 3352 * giga, Launch: launch,
		Source: "NVIDIA H100 Tensor Core GPU Architecture, whitepaper V1.04, tables 1 and 3: H100 SXM5, FP32 66.9, TF32 494.7/989.4, FP16 and BF16 989.4/1978.9, FP8 1978.9/3957.8 TFLOPS (dense/sparse), 3352 GB/s; the datasheet rounds to 67, 989*, 1979*, 3958* (* with sparsity) and 3.35 TB/s; PCIe, dense: 51, 378, 756, 1513 TFLOPS and 2 TB/s"},
	{Name: "L4", Products: map[string]float64{"float32": 30.3 * tera, "tf32": 60 * tera, "float16": 121 * tera, "bfloat16": 121 * tera, "float8_e4m3fn": 242.5 * tera, "float8_e5m2": 242.5 * tera}, Vector: 30.3 * tera, Bandwidth: 300 * giga, Launch: launch,
		Source: "NVIDIA L4 Tensor Core GPU datasheet: FP32 30.3, TF32 120*, FP16 and BF16 242*, FP8 485* TFLOPS (* with sparsity, so half of it here), 300 GB/s; that sums in float32 run at this rate is not confirmed, but measured alike in NVIDIA's forum (FP16 87 TFLOPS with FP32 accumulate, 85 with FP16)"},
	{Name: "M1 Max", Products: map[string]float64{"float32": 10.4 * tera}, Vector: 10.4 * tera, Bandwidth: 400 * giga, Launch: launch,
		Source: "Apple, \"Introducing M1 Pro and M1 Max\", 18 October 2021: up to 400 GB/s with 32 GPU cores; 10.4 TFLOPS is not confirmed: the press reports it of Apple's presentation; no figure for float16"},
	{Name: "RTX 3090", Products: map[string]float64{"float32": 35.6 * tera, "tf32": 35.6 * tera, "float16": 71 * tera, "bfloat16": 71 * tera}, Vector: 35.6 * tera, Bandwidth: 936 * giga, Launch: launch,
		Source: "NVIDIA Ampere GA102 GPU Architecture, whitepaper V2, appendix A, table 9: FP32 35.6, FP16 with FP32 accumulate 71/142 TFLOPS (dense/sparse), 936 GB/s; BF16 71 and TF32 35.6 of the same whitepaper, dense"},
	{Name: "RTX 4090", Products: map[string]float64{"float32": 82.6 * tera, "tf32": 82.6 * tera, "float16": 165.2 * tera, "bfloat16": 165.2 * tera, "float8_e4m3fn": 330.3 * tera, "float8_e5m2": 330.3 * tera}, Vector: 82.6 * tera, Bandwidth: 1008 * giga, Launch: launch,
		Source: "NVIDIA Ada GPU Architecture, whitepaper V2.1, appendix A, table 2: FP32 82.6, FP16 and BF16 with FP32 accumulate 165.2/330.4, FP8 with FP32 accumulate 330.3/660.6 TFLOPS (dense/sparse; 660.6 before V2.02), 1008 GB/s; TF32 82.6 is not confirmed there, it is from lists of others"},
	{Name: "T4", Products: map[string]float64{"float32": 8.1 * tera, "float16": 65 * tera}, Vector: 8.1 * tera, Bandwidth: 320 * giga, Launch: launch,
		Source: "NVIDIA T4 Tensor Core GPU datasheet: FP32 8.1, mixed precision 65 TFLOPS, memory 300 GB/s; 320 GB/s is what the device's clock of 5001 MHz and bus of 256 bits come to, as in Z. Jia and others, \"Dissecting the NVidia Turing T4 GPU via Microbenchmarking\", 2019, who measured 220"},
	{Name: "V100", Products: map[string]float64{"float32": 15.7 * tera, "float16": 125 * tera}, Vector: 15.7 * tera, Bandwidth: 900 * giga, Launch: launch,
		Source: "NVIDIA Ampere Architecture In-Depth, NVIDIA Technical Blog, 2020, table 3: V100 (SXM2), FP32 15.7, FP16 with FP32 accumulate 125 TFLOPS, 900 GB/s; PCIe 14 and 112"},
}

// GPUTable is a table of devices.
type GPUTable []GPU

// GPUs returns all devices with their numbers and sources.
func GPUs() GPUTable { return append(GPUTable(nil), gpus...) }

// GPUByName returns the device called name, for example "T4"; "A100" is the 40 GB model. It panics
// if the name is unknown.
func GPUByName(name string) GPU {
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
	panic(fmt.Errorf("roofline: GPU %q is not known; want one of %s, or your own GPU value", name, strings.Join(names, ", ")))
}

func (l GPUTable) table() display.Bundle {
	head := []string{"device", "float32", "TF32", "float16", "bfloat16", "8 bits", "memory", "launch"}
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
		rows = append(rows, append(row, fmt.Sprintf("%.4g GB/s", g.Bandwidth/giga), g.Launch))
	}
	return display.Table(head, rows)
}

// notes returns the sources of the numbers.
func (l GPUTable) notes() []string {
	var notes []string
	for _, g := range l {
		notes = append(notes, g.Name+": "+g.Source+".")
	}
	return append(notes, launchNote)
}

// String returns the list as text.
func (l GPUTable) String() string { return l.table().String() + "\n" + strings.Join(l.notes(), "\n") }

// HTML returns the list as a table.
func (l GPUTable) HTML() string {
	return fmt.Sprintf("%s<p style=\"padding:0 8px\">%s</p>", l.table().Data["text/html"], strings.ReplaceAll(html.EscapeString(strings.Join(l.notes(), "\n")), "\n", "<br>"))
}
