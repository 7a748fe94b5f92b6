//go:build cuda && linux && cgo

package fake_test

import (
	"errors"
	"strings"
	"testing"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/internal/fake"
	"halfnote/cuda/internal/ptx"
)

// TestFault checks that the next wait returns the error of a kernel that failed, and that later
// calls return it too.
func TestFault(t *testing.T) {
	if !child(t) {
		return
	}
	m := open(t)
	p := m.alloc(64)
	must(t, m.launch(m.s, p, 2, 17))
	err := m.s.Synchronize()
	if !errors.Is(err, drv.IllegalAddress) {
		t.Fatalf("read past the end: got error %v, want illegal address", err)
	}
	var f *ptx.Fault
	if !errors.As(fake.LastFault(), &f) || f.Kernel != "scale" || f.Thread[0] != 16 || f.Opcode != "ld.global.f32" {
		t.Errorf("got last fault %v, want one in ld.global.f32 in thread 16 of scale", fake.LastFault())
	}
	if _, again := m.d.Alloc(4); !errors.Is(again, drv.IllegalAddress) {
		t.Errorf("later call: got error %v, want illegal address", again)
	}
	other, err := drv.Open(1)
	must(t, err)
	if _, err := other.Alloc(4); err != nil {
		t.Errorf("Alloc on the other device: got error %v", err)
	}
}

func TestLaunchFails(t *testing.T) {
	if !child(t) {
		return
	}
	fake.Use(t, fake.Options{Devices: 2, FailLaunch: fake.Launches() + 3})
	m := open(t)
	p := m.alloc(4)
	for range 4 {
		must(t, m.launch(m.s, p, 1, 1))
	}
	var e *drv.Error
	if err := m.s.Synchronize(); !errors.As(err, &e) || e.Code != 719 || !e.Sticky() {
		t.Errorf("after the third launch: got error %v, want code 719", err)
	}
}

func TestLostDevice(t *testing.T) {
	if !child(t) {
		return
	}
	m := open(t)
	fake.Use(t, fake.Options{Lost: true})
	if _, err := m.d.Alloc(4); err == nil {
		t.Error("Alloc on a lost device: got no error")
	}
}

func TestNoDevice(t *testing.T) {
	if !child(t, "HALFNOTE_FAKE_TEST_NODEVICE=1") {
		return
	}
	fake.Use(t, fake.Options{NoDevice: true})
	if err := drv.Load(); err == nil || !strings.Contains(err.Error(), "no CUDA-capable device") {
		t.Errorf("Load: got error %v, want that there is no device", err)
	}
}
