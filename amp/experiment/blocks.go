package experiment

import (
	"fmt"
	"time"

	"halfnote/amp/roofline"
)

// BlockRow is what a step of training of a linear layer takes with one batch.
type BlockRow struct {
	Batch   int
	Padded  int           // the batch, filled up to a multiple of 8
	Step    time.Duration // predicted, under autocast, where sizes that are not multiples of 8 do not use tensor cores
	Filled  time.Duration // predicted with the batch filled up
	PerRow  float64       // Step for one sample, against the first batch's
	PerFill float64       // Filled for one sample, against the first batch's
}

// MultiplesOf8Report is the result of [MultiplesOf8].
type MultiplesOf8Report struct {
	Report
	Batches []BlockRow
}

// MultiplesOf8 predicts, by a roofline and not by measuring, what a step of training of a
// linear layer of in by out features takes on a GPU, "V100", with batches of some sizes and
// cuBLAS before version 11: with 513 in place of 512 it left tensor cores altogether; filled
// up to 520 the batch costs 1.6 % more than its rows. Later versions use tensor cores with
// any size, and most efficiently with multiples of 8 (NVIDIA, Matrix Multiplication
// Background User's Guide, table 1).
func MultiplesOf8(gpu string, in, out int, batches ...int) *MultiplesOf8Report {
	r := &MultiplesOf8Report{}
	r.Header = []string{"batch", "step", "a sample, against the first", "filled up to", "step", "a sample, against the first"}
	g := roofline.GPUByName(gpu)
	g.AlignedOnly = true
	step := func(batch int) time.Duration { return roofline.Dense(batch, in, out).On(g).Mixed.Total }
	for _, b := range batches {
		row := BlockRow{Batch: b, Padded: (b + 7) / 8 * 8, Step: step(b)}
		row.Filled = step(row.Padded)
		r.Batches = append(r.Batches, row)
		first := r.Batches[0]
		base := float64(first.Step) / float64(first.Batch)
		row.PerRow, row.PerFill = float64(row.Step)/float64(b)/base, float64(row.Filled)/float64(b)/base
		r.Batches[len(r.Batches)-1] = row
		r.row(b, row.Step.Round(time.Microsecond), fmt.Sprintf("%.3f", row.PerRow), row.Padded, row.Filled.Round(time.Microsecond), fmt.Sprintf("%.3f", row.PerFill))
	}
	r.Says = fmt.Sprintf("Predicted for %s with cuBLAS before version 11, not measured: sizes that are not multiples of 8 do not use tensor cores, or are padded.", gpu)
	return r
}
