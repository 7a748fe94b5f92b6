package experiment

import "fmt"

// BlockRow is the cost of a linear layer for one batch.
type BlockRow struct {
	Batch   int
	FLOPs   float64 // that are wanted
	Padded  float64 // that blocks of 8 compute
	Aligned bool
	Against float64 // time against the first batch, a sample, in the model
}

// MultiplesOf8Report is what [MultiplesOf8] returns.
type MultiplesOf8Report struct {
	Report
	Batches []BlockRow
}

// MultiplesOf8 predicts, by a model and not by measuring, what a linear layer of in by out
// features costs a sample on Tensor Cores, which multiply blocks of 8 by 8 by 8: sizes are
// filled up to the next multiple, 513 to 520. Older libraries left Tensor Cores altogether at
// such sizes, which then cost as many times more as the cores are faster: faster, 8 on a T4 or
// V100 (NVIDIA, Matrix Multiplication Background User's Guide; Volta before cuBLAS 11).
func MultiplesOf8(in, out int, faster float64, batches ...int) *MultiplesOf8Report {
	r := &MultiplesOf8Report{}
	r.Header = []string{"batch", "GFLOP wanted", "GFLOP in blocks of 8", "a sample, padded", "a sample, off Tensor Cores"}
	up := func(n int) float64 { return float64((n + 7) / 8 * 8) }
	first := 0.0
	for _, b := range batches {
		row := BlockRow{
			Batch: b, FLOPs: 2 * float64(b) * float64(in) * float64(out), Padded: 2 * up(b) * up(in) * up(out),
			Aligned: b%8 == 0 && in%8 == 0 && out%8 == 0,
		}
		a := row.Padded / float64(b)
		if first == 0 {
			first = a
		}
		row.Against = a / first
		off := 1.0
		if !row.Aligned {
			off = faster
		}
		r.Batches = append(r.Batches, row)
		r.row(b, fmt.Sprintf("%.3f", row.FLOPs/1e9), fmt.Sprintf("%.3f", row.Padded/1e9), fmt.Sprintf("%.4f", row.Against), off)
	}
	r.Says = "Predicted by a model, not measured: sizes that are no multiples of 8 are filled up, or, with older libraries, leave Tensor Cores altogether."
	return r
}
