package experiment

import (
	"fmt"
	"time"

	"halfnote/amp/roofline"
	"halfnote/display"
)

// BlockRow holds the predicted times of a training step of a linear layer for one batch size.
type BlockRow struct {
	Batch   int
	Padded  int           // batch size rounded up to a multiple of 8
	Step    time.Duration // predicted time under autocast, without tensor cores for sizes that are not multiples of 8
	Filled  time.Duration // predicted time with the padded batch
	PerRow  float64       // Step per sample, relative to the first batch size
	PerFill float64       // Filled per sample, relative to the first batch size
}

// MultiplesOf8Report is the result of [MultiplesOf8].
type MultiplesOf8Report struct {
	Report
	Batches []BlockRow
}

// MultiplesOf8 predicts with a roofline model, without measuring, the time of a training step of a
// linear layer of in by out features on a GPU such as "V100", for several batch sizes, with cuBLAS
// before version 11. With 513 in place of 512 that did not use tensor cores at all; padded to 520 the
// batch costs 1.6 % more than its rows. Later versions use tensor cores with any size, and most
// efficiently with multiples of 8 (NVIDIA, Matrix Multiplication Background User's Guide, table 1).
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
		r.row(b, display.Duration(row.Step), fmt.Sprintf("%.3f", row.PerRow), row.Padded, display.Duration(row.Filled), fmt.Sprintf("%.3f", row.PerFill))
	}
	r.Says = fmt.Sprintf("Predicted for %s with cuBLAS before version 11, not measured: sizes that are not multiples of 8 do not use tensor cores, or are padded.", gpu)
	return r
}
