package trace

import (
	"strings"
	"testing"
	"time"

	"halfnote/dist"
	"halfnote/tensor"
)

// TestWire has two buckets, one of them half hidden, and checks the numbers of the charts.
func TestWire(t *testing.T) {
	r := Start()
	r.Stop()
	begin := time.Unix(0, 0)
	for step := range 2 {
		r.transfer(dist.Transfer{Call: "AllReduce", Bucket: 0, Module: "2.weight", DType: tensor.BFloat16, Bytes: 1000, Start: begin, End: begin.Add(2 * time.Second), Exposed: time.Second, Checked: 10, Error: 0.01 * float64(step+1), MaxError: 0.004})
	}
	r.transfer(dist.Transfer{Call: "Broadcast", Bucket: -1, DType: tensor.Float32, Bytes: 500, Start: begin, End: begin.Add(time.Second), Exposed: time.Second})
	rows := wireRows(r.Transfers())
	if len(rows) != 2 || rows[0].name != "bucket 0, 2.weight" || rows[1].name != "Broadcast" {
		t.Fatalf("got %d rows, want a bucket and a call", len(rows))
	}
	if b := rows[0]; b.bytes[tensor.BFloat16] != 2000 || b.hidden != 2 || b.exposed != 2 || b.checked != 20 || b.error != 0.03 || b.largest != 0.004 {
		t.Errorf("got the sums %+v", b)
	}
	for _, want := range []string{"Bytes sent", "Time on the wire", "Relative error of sums", "bfloat16"} {
		if got := r.Wire().String(); !strings.Contains(got, want) {
			t.Errorf("got the chart %q, want a text that contains %q", got, want)
		}
	}
}
