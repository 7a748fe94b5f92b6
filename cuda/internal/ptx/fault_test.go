package ptx

import (
	"errors"
	"strings"
	"testing"
)

// TestFaults checks that faulty kernels and launches fail with an error that names the mistake.
func TestFaults(t *testing.T) {
	m := read(t, "general_sm80.ptx")
	for _, test := range []struct {
		kernel         string
		blocks, thread uint32
		bytes          int
		second         any
		want           string
		opcode         string
	}{
		{"past_the_end", 2, 32, 4 * 63, 1, "outside all allocations (byte 252 of an allocation of 252 bytes)", "st.global.f32"},
		{"misaligned", 1, 4, 64, nil, "misaligned", "st.global"},
		{"half_barrier", 1, 64, 256, nil, "barrier 0 waits for threads that never arrive: those of warp 1 wait at barrier 1", "bar.sync"},
		{"half_barrier", 1, 48, 256, nil, "barrier 0 waits", "bar.sync"},
		{"racy", 1, 64, 256, nil, "race", "shared"},
		{"unset", 1, 64, 256, nil, "before any thread has written it", "ld."},
		{"endless", 1, 1, 4, nil, "more than", "bra"},
		{"past_the_end", 1, 1025, 4, 1, "want 1 to 1024 threads", ""},
		{"transpose", 1, 1, 4, nil, "bytes of parameters", ""},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			d := &device{t: t}
			at, _ := d.alloc(test.bytes)
			args := []any{at}
			if test.second != nil {
				args = append(args, test.second)
			}
			k := kernel(t, m, test.kernel)
			params := pack(k, args...)
			if test.want == "bytes of parameters" {
				params = params[:8]
			}
			_, err := k.Launch(Launch{Grid: line(test.blocks), Block: line(test.thread), Params: params, Global: d.ranges, Check: true, Limit: 1 << 20})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one with %q", err, test.want)
			}
			var f *Fault
			if errors.As(err, &f) && !strings.Contains(f.Opcode, test.opcode) {
				t.Errorf("got a fault in %s, want %s", f.Opcode, test.opcode)
			}
		})
	}
}

// TestBarrierWithOneWarp checks that barrier 0 of half_barrier completes if the block has only one
// warp.
func TestBarrierWithOneWarp(t *testing.T) {
	d := &device{t: t}
	at, _ := d.alloc(256)
	err := d.launch(kernel(t, read(t, "general_sm80.ptx"), "half_barrier"), line(1), line(32), 0, at)
	if err != nil {
		t.Errorf("got error %v, want nil", err)
	}
}

func TestSharedMemoryLimit(t *testing.T) {
	k := kernel(t, read(t, "general_sm80.ptx"), "transpose")
	d := &device{t: t}
	at, _ := array(d, make([]float32, 1))
	l := Launch{Grid: line(1), Block: line(1), Shared: 100 << 10, Params: pack(k, at, at, 1, 1), Global: d.ranges}
	if _, err := k.Launch(l); err == nil || !strings.Contains(err.Error(), "shared memory") {
		t.Errorf("100 KiB of shared memory: got error %v, want one about the limit of 48 KiB", err)
	}
	l.MaxShared = 227 << 10
	if _, err := k.Launch(l); err != nil {
		t.Error(err)
	}
}
