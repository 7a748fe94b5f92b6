package mpi

import "testing"

// answers is a library whose function returns a number; nil has no function.
type answers struct{ result *int32 }

func (a answers) symbol(name string) uintptr {
	if a.result != nil && name == "MPIX_Query_cuda_support" {
		return 1
	}
	return 0
}

func (a answers) call(uintptr, ...uintptr) int32 { return *a.result }

func TestDeviceAware(t *testing.T) {
	yes, no := int32(1), int32(0)
	for _, c := range []struct {
		name     string
		result   *int32
		variable string
		want     bool
	}{
		{"a library with support", &yes, "", true},
		{"a library without", &no, "1", false},
		{"no function", nil, "", false},
		{"no function, support off", nil, "0", false},
		{"no function, support on", nil, "1", true},
	} {
		for _, name := range switches {
			t.Setenv(name, "")
		}
		for _, name := range switches {
			t.Setenv(name, c.variable)
			if got := (&comm{lib: answers{c.result}}).DeviceAware(); got != c.want {
				t.Errorf("%s, %s=%s: DeviceAware() = %v, want %v", c.name, name, c.variable, got, c.want)
			}
			t.Setenv(name, "")
		}
	}
}
