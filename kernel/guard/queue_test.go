package guard

import (
	"bytes"
	"testing"
)

func TestByteQueue(t *testing.T) {
	var q byteQueue
	var want, got []byte
	for i := range 400 {
		b := bytes.Repeat([]byte{byte(i)}, i*i%70_000)
		q.append(b)
		want = append(want, b...)
		if i%7 == 0 && q.size > 0 {
			taken := q.take()
			first := taken[0]
			for _, b := range taken {
				got = append(got, b...)
			}
			q.recycle(first)
		}
		if q.size != len(want)-len(got) {
			t.Fatalf("after %d pieces: size %d, want %d", i, q.size, len(want)-len(got))
		}
	}
	for q.size > 0 {
		for _, b := range q.take() {
			got = append(got, b...)
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want the %d that were written, in order", len(got), len(want))
	}
}
