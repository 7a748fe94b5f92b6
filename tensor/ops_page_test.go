package tensor_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

var update = flag.Bool("update", false, "rewrite OPS.md")

const opsHead = `# Operations

<!-- Written by "go test ./tensor -run TestOpsPage -update". Do not edit. -->

float16 and bfloat16 operands are widened to float32, and the result is computed in float32 and rounded once, to nearest even;
subnormal numbers are kept. Sums and products are added in float32, in an order that depends only on shapes, so the same call gives
the same bits on every run, with any number of workers and on every kind of CPU. In products of matrices, sums over K are taken in
blocks of 512 from 0, K ascending, with one rounding per product and sum (fused multiply-add), and the blocks' sums are
added in order. Products of bfloat16 follow AMX's instruction TDPBF16PS: K is taken in blocks of 32, the last one padded
with zeros. In a block the products of even K and those of odd K are summed separately, K ascending from 0, with one rounding per
product and sum; the two sums are added, and the result is added to that of the previous blocks. Numbers below 2^-126 are flushed
to zero throughout. In a convolution
K runs over the channels and, for each, over the kernel's elements. In bfloat16, with 32, 64, … channels in a group and
more than one element, it runs over the kernel's elements and, for each, over the channels. float64 is computed in float64, where products are rounded before they are added.

On the CPU, ` + "`exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `tanh`, `sigmoid`, `erf`, `rsqrt`, `gelu` and `silu`" + ` of float32 are computed in float32 with
polynomials and fused multiply-adds: the result is the nearest float32 or a neighbour of it. Of the 65,536 operands in float16 or
bfloat16, at most 40 give a neighbour of the nearest half.

Attention of bfloat16 on the CPU multiplies queries and keys as bfloat16, scales the float32 sums, or before the product the queries if the scale is
a power of two, and rounds the weights to bfloat16 for their product with the values, as torch's kernels do. The result can be off by half a unit of
bfloat16 for each value. Everything else, and the derivative, is computed in float32.

The integers int64, int32, int16, int8 and uint8 are computed in int64 and wrap around when the result is stored, as torch's do. Their sums and
products are int64. A uint8 with an int8 gives int16. A comparison with a number compares the numbers themselves: no uint8 equals 257, and each is
below it. torch wraps the number to the tensor's dtype first: there 257 equals a uint8 of 1, and -1 is above all but 255.

Where a product is added to another number, as in ` + "`AddScaled`, `Lerp`, `Addcmul` and `Addcdiv`" + `, product and sum are rounded separately, on every
device and kind of CPU. torch's portable kernels (ATEN_CPU_CAPABILITY=default) have the same bits. Its kernels for AVX2, AVX-512 and GPUs round once, so
that a quarter of the results can be one unit in the last place off these. In bfloat16 and float16 it is one result in a thousand.

Optimizers are compared with torch's at the same edges, in all four dtypes. A centred RMSprop whose squares overflow subtracts infinities and makes
NaN, as torch's kernels do that round twice; those that round once give infinity, and leave the parameter as it is. Adam divides the running
mean before it multiplies by the learning rate, so that a subnormal mean keeps its bits; torch multiplies first.

Where a variance overflows, ` + "`layer_norm` and `group_norm`" + ` make NaN, and ` + "`batch_norm`, `instance_norm` and `rms_norm`" + ` make 0, as torch does. (For some
shapes torch's group_norm and layer_norm make 0, too, and its batch_norm adds in float64.)

Under autocast, "lower_precision_fp" operations run in the policy's dtype, "fp32" ones in float32, and "promote" ones in the widest
dtype of their operands; the others run in the dtypes of their operands. "fp32 *" applies unless the caller names a dtype. Casts and
views are never cast.

| operation | torch | autocast | derivatives | they read |
|---|---|---|---|---|
`

// edgesHead precedes the differences that TestEdges of tensor/torchtest allows.
const edgesHead = `
## Edges

Results and both derivatives are compared with torch's where operands are zeros, ones, equal, multiplied by 1e-30, 1e-3, 100 or 1e30, where their
first element is NaN or infinite, and where they run through 0, -0, a subnormal and the smallest normal number, 1, -1, 1e30 and -1e30 (the cycle). Where they
differ, this is on purpose. y is the result, g a first and h a second derivative. A difference is of classes: 0, another number, an infinity, NaN, or an error
(refused). The names are those of the cases in tensor/torchtest; names of modules stand for what they are made of.

`

// dtypeArgument lists the operations with a dtype argument.
var dtypeArgument = map[string]bool{
	"cumprod": true, "cumsum": true, "frobenius_norm": true, "linalg_matrix_norm": true, "linalg_vector_norm": true, "log_softmax": true,
	"norm": true, "nuclear_norm": true, "prod": true, "softmax": true, "sum": true,
}

func TestOpsPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(opsHead)
	fixed := tensor.NeverCast()
	for _, info := range tensor.Ops() {
		list := amp.Listed(info).String()
		switch {
		case dtypeArgument[info.Name]:
			list += " *"
		case fixed[info.Name]:
			list = "never cast"
		}
		derivatives := "first and second"
		if info.Saved == tensor.NoDerivative {
			derivatives = "none"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", info.Name, info.Torch, list, derivatives,
			[...]string{"operands and result", "operands", "result", "shapes", "positions and masks", ""}[info.Saved])
	}
	differences, err := os.ReadFile("torchtest/testdata/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(edgesHead)
	b.Write(differences)
	if *update {
		if err := os.WriteFile("OPS.md", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("OPS.md")
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("OPS.md is out of date (%v): run go test ./tensor -run TestOpsPage -update", err)
	}
}
