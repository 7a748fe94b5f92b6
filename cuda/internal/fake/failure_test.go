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

// A fault comes to light at the next wait, and stays.
func TestFault(t *testing.T) {
	if !child(t) {
		return
	}
	m := open(t)
	p := m.alloc(64)
	must(t, m.launch(m.s, p, 2, 17))
	err := m.s.Synchronize()
	if !errors.Is(err, drv.IllegalAddress) {
		t.Fatalf("a read past the end: %v, want illegal address", err)
	}
	var f *ptx.Fault
	if !errors.As(fake.LastFault(), &f) || f.Kernel != "scale" || f.Thread[0] != 16 || f.Opcode != "ld.global.f32" {
		t.Errorf("last fault %v, want one of ld.global.f32 in thread 16 of scale", fake.LastFault())
	}
	if _, again := m.d.Alloc(4); !errors.Is(again, drv.IllegalAddress) {
		t.Errorf("later call: %v, want the same error", again)
	}
	other, err := drv.Open(1)
	must(t, err)
	if _, err := other.Alloc(4); err != nil {
		t.Errorf("the other device: %v", err)
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
		t.Errorf("after the third launch: %v, want that it failed", err)
	}
}

func TestLostDevice(t *testing.T) {
	if !child(t) {
		return
	}
	m := open(t)
	fake.Use(t, fake.Options{Lost: true})
	if _, err := m.d.Alloc(4); err == nil {
		t.Error("a lost device gives memory")
	}
}

func TestNoDevice(t *testing.T) {
	if !child(t, "HALFNOTE_FAKE_TEST_NODEVICE=1") {
		return
	}
	fake.Use(t, fake.Options{NoDevice: true})
	if err := drv.Load(); err == nil || !strings.Contains(err.Error(), "no CUDA-capable device") {
		t.Errorf("error %v, want that there is no device", err)
	}
}
