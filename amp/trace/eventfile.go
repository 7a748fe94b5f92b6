package trace

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"sort"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// An event file is a list of records in TensorFlow's framing, TFRecord. Each holds an Event message:
// tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto and histogram.proto.

// eventVersion is the file_version of the first event.
const eventVersion = "brain.Event:2"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// framed returns data as a TFRecord: its length and the length's checksum, the data and its
// checksum.
func framed(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

// masked returns TFRecord's checksum: a rotated CRC-32C plus a constant, so that the checksum of
// data that holds checksums is not weak.
func masked(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// event is an Event message: the file's version, or one value.
type event struct {
	wall      time.Time
	version   string
	step      int
	tag       string
	scalar    *float32
	histogram *histogram
}

// Field numbers of the messages.
const (
	eventWallTime, eventStep, eventFileVersion, eventSummary                                                           protowire.Number = 1, 2, 3, 5
	summaryValue                                                                                                       protowire.Number = 1
	valueTag, valueSimple, valueHistogram                                                                              protowire.Number = 1, 2, 5
	histogramMin, histogramMax, histogramNum, histogramSum, histogramSumSquares, histogramBucketLimit, histogramBucket protowire.Number = 1, 2, 3, 4, 5, 6, 7
)

func (e event) encode() []byte {
	b := appendDouble(nil, eventWallTime, float64(e.wall.UnixNano())/1e9)
	if e.version != "" {
		b = protowire.AppendTag(b, eventFileVersion, protowire.BytesType)
		return protowire.AppendString(b, e.version)
	}
	b = protowire.AppendTag(b, eventStep, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(e.step))
	v := protowire.AppendTag(nil, valueTag, protowire.BytesType)
	v = protowire.AppendString(v, e.tag)
	if e.scalar != nil {
		v = protowire.AppendTag(v, valueSimple, protowire.Fixed32Type)
		v = protowire.AppendFixed32(v, math.Float32bits(*e.scalar))
	}
	if e.histogram != nil {
		v = appendMessage(v, valueHistogram, e.histogram.encode())
	}
	return appendMessage(b, eventSummary, appendMessage(nil, summaryValue, v))
}

func appendMessage(b []byte, n protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), message)
}

func appendDouble(b []byte, n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), math.Float64bits(v))
}

// appendDoubles appends a packed list.
func appendDoubles(b []byte, n protowire.Number, list []float64) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendFixed64(packed, math.Float64bits(v))
	}
	return appendMessage(b, n, packed)
}

// histogram is a HistogramProto: bucket i holds the values from limit i-1 up to limit i.
type histogram struct {
	min, max, num, sum, squares float64
	limits, counts              []float64
}

// newHistogram returns the histogram of the finite values, in the buckets of TensorFlow's default
// histogram. Runs of empty buckets are one bucket.
func newHistogram(values []float64) *histogram {
	all := bucketLimits()
	counts := make([]float64, len(all))
	h := &histogram{min: math.Inf(1), max: math.Inf(-1)}
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		h.min, h.max = min(h.min, v), max(h.max, v)
		h.num++
		h.sum += v
		h.squares += v * v
		i := sort.SearchFloat64s(all, v)
		if i < len(all)-1 && all[i] == v { // a limit belongs to the next bucket
			i++
		}
		counts[i]++
	}
	if h.num == 0 {
		h.min, h.max = 0, 0
	}
	for i, n := range counts {
		last := len(h.counts) - 1
		if n == 0 && last >= 0 && h.counts[last] == 0 {
			h.limits[last] = all[i]
			continue
		}
		h.limits, h.counts = append(h.limits, all[i]), append(h.counts, n)
	}
	return h
}

func (h *histogram) encode() []byte {
	var b []byte
	for _, f := range []struct {
		n protowire.Number
		v float64
	}{{histogramMin, h.min}, {histogramMax, h.max}, {histogramNum, h.num}, {histogramSum, h.sum}, {histogramSumSquares, h.squares}} {
		b = appendDouble(b, f.n, f.v)
	}
	b = appendDoubles(b, histogramBucketLimit, h.limits)
	return appendDoubles(b, histogramBucket, h.counts)
}
