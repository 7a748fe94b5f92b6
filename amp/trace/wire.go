package trace

import (
	"fmt"

	"halfnote/display/chart"
	"halfnote/dist"
	"halfnote/tensor"
)

// transfer observes a collective of package dist.
func (r *Recorder) transfer(t dist.Transfer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wire) < MaxOps {
		r.wire = append(r.wire, t)
	}
}

// Transfers returns the collectives of package dist on this rank, in order.
func (r *Recorder) Transfers() []dist.Transfer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]dist.Transfer(nil), r.wire...)
}

// wireRow sums the collectives of a bucket, or of a call.
type wireRow struct {
	name            string
	bytes           map[tensor.DType]float64
	hidden, exposed float64 // seconds
	checked         int
	error, largest  float64
}

// Wire shows what this rank sent to others, by bucket of DistributedDataParallel or by call: bytes by dtype; time, hidden
// behind computation and exposed; the mean relative error of the sums that this rank computed, against float64, and the
// largest. On one rank nothing is sent.
func (r *Recorder) Wire() *chart.Figure {
	rows := wireRows(r.Transfers())
	bytes, times, errors := make([]chart.Bar, len(rows)), make([]chart.Bar, len(rows)), make([]chart.Bar, len(rows))
	for i, row := range rows {
		bytes[i].Name, times[i].Name, errors[i].Name = row.name, row.name, row.name
		for _, d := range tensor.DTypes() {
			if n := row.bytes[d]; n > 0 {
				bytes[i].Parts = append(bytes[i].Parts, chart.Part{Name: d.String(), DType: d.String(), Value: n})
			}
		}
		times[i].Parts = []chart.Part{{Name: "exposed", Value: row.exposed}, {Name: "hidden", Value: row.hidden}}
		mean := row.error / float64(max(1, row.checked))
		errors[i].Parts = []chart.Part{{Name: "mean", Value: mean}, {Name: "largest, above the mean", Value: row.largest - mean}}
	}
	return chart.Grid(1, chart.Bars("bytes sent", "B", bytes), chart.Bars("time on the wire", "s", times), chart.Bars("relative error of sums", "", errors))
}

// wireRows sums transfers by bucket or call, in the order of their first.
func wireRows(list []dist.Transfer) (rows []*wireRow) {
	at := map[string]*wireRow{}
	for _, t := range list {
		name := t.Call
		if t.Bucket >= 0 {
			name = fmt.Sprintf("bucket %d, %s", t.Bucket, t.Module)
		}
		row := at[name]
		if row == nil {
			row = &wireRow{name: name, bytes: map[tensor.DType]float64{}}
			at[name], rows = row, append(rows, row)
		}
		row.bytes[t.DType] += float64(t.Bytes)
		row.hidden += t.Hidden().Seconds()
		row.exposed += min(t.Exposed, t.Duration()).Seconds()
		row.checked += t.Checked
		row.error += t.Error
		row.largest = max(row.largest, t.MaxError)
	}
	return rows
}
