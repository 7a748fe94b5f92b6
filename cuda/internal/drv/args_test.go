//go:build cuda && linux && cgo

package drv

import (
	"slices"
	"strings"
	"testing"
)

func TestArgsLayout(t *testing.T) {
	a := new(Args)
	a.I32(1)
	a.Ptr(2)
	a.I32(3)
	a.F32(4)
	a.Bytes(make([]byte, 13))
	a.I32(5)
	Struct(a, &struct {
		p Ptr
		n int32
	}{})
	a.F64(6)
	if got, want := a.offset[:a.n], []uint16{0, 8, 16, 20, 24, 40, 48, 64}; !slices.Equal(got, want) {
		t.Errorf("got offsets %v, want %v", got, want)
	}
	a.Reset()
	a.Bytes(make([]byte, 4096))
	if a.n != 1 || a.used != 4096 {
		t.Errorf("got %d parameters of %d bytes, want 1 of 4096", a.n, a.used)
	}
}

func TestArgsOverflow(t *testing.T) {
	for name, add := range map[string]func(*Args){
		"parameters": func(a *Args) {
			for range 65 {
				a.I32(0)
			}
		},
		"bytes": func(a *Args) {
			a.Bytes(make([]byte, 4095))
			a.I32(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "at most") {
					t.Errorf("got panic %q, want one that names the maximum", s)
				}
			}()
			add(new(Args))
		})
	}
}
