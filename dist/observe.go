package dist

import (
	"slices"
	"sync"
	"time"

	"halfnote/tensor"
)

// Transfer is the record of a collective that moved elements.
type Transfer struct {
	Call     string       // "AllReduce", "ReduceScatter", "AllGather" or "Broadcast"
	Rank     int          // rank that recorded it
	Ranks    int          // number of ranks
	Source   string       // cell line of the call: "In[3], line 5"
	Bucket   int          // number of the bucket of DistributedDataParallel, -1 for other calls
	Module   string       // first parameter in the bucket
	DType    tensor.DType // dtype on the wire
	Elements int          // elements of this rank's tensor
	Bytes    int          // bytes that this rank sent

	Queued, Start, End time.Time     // when it was called, begun and finished
	Exposed            time.Duration // time that the caller waited for it; the rest is hidden behind computation

	Accumulated tensor.DType // dtype of the sum; undefined unless Reduced
	Reduced     bool         // elements were reduced
	Checked     int          // elements that this rank reduced and compared with a sum in float64
	Error       float64      // sum of their relative errors, |result - exact| / max |term|
	MaxError    float64      // the largest of these
	Overflowed  int          // elements that became infinite or NaN in the cast of a hook or in the sum
}

// Duration returns the time on the wire, including the wait for other ranks.
func (t Transfer) Duration() time.Duration { return t.End.Sub(t.Start) }

// Hidden returns the part of the duration in which the caller computed.
func (t Transfer) Hidden() time.Duration { return max(0, t.Duration()-t.Exposed) }

// observers is the list of functions that Observe has added.
var observers struct {
	sync.Mutex
	list []*func(Transfer)
}

// Observe calls f after each collective of this process that moved elements, on the goroutine that waited for it, until stop is
// called. While there is an observer, each rank also compares the sums that it computes with sums in float64.
func Observe(f func(Transfer)) (stop func()) {
	if f == nil {
		panic(&Error{Code: "argument", Call: "Observe", Why: "f is nil", Cure: "pass a function of a dist.Transfer"})
	}
	observers.Lock()
	defer observers.Unlock()
	p := &f
	observers.list = append(slices.Clone(observers.list), p)
	return func() {
		observers.Lock()
		defer observers.Unlock()
		observers.list = slices.DeleteFunc(slices.Clone(observers.list), func(q *func(Transfer)) bool { return q == p })
	}
}

func listening() []*func(Transfer) {
	observers.Lock()
	defer observers.Unlock()
	return observers.list
}

func tell(t Transfer) {
	for _, f := range listening() {
		(*f)(t)
	}
}
