package driver

import "testing"

// TestCodes checks that every code has a distinct name and that Optional, a marker, does not have a name.
func TestCodes(t *testing.T) {
	seen := map[string]Code{}
	for c := Code(0); c <= UpdateScale; c++ {
		name, ok := codes[c]
		if ok == (c == Optional) {
			t.Errorf("code %d: got the name %v, want none", uint8(c), ok)
		}
		if ok && name == "" {
			t.Errorf("code %d: the name is empty", uint8(c))
		}
		if other, twice := seen[name]; ok && twice {
			t.Errorf("%d and %d are both named %q", uint8(other), uint8(c), name)
		}
		seen[name] = c
	}
	if got, want := Code(200).String(), "code 200"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPoll(t *testing.T) {
	defer SetHost(Host{})
	Poll() // does nothing
	calls := 0
	SetHost(Host{Poll: func() { calls++ }})
	Poll()
	SetHost(Host{})
	Poll()
	if calls != 1 {
		t.Errorf("got %d calls, want 1", calls)
	}
}

func TestContiguous(t *testing.T) {
	for _, test := range []struct {
		shape, stride []int
		want          bool
	}{
		{nil, nil, true},
		{[]int{2, 3}, []int{3, 1}, true},
		{[]int{2, 3}, []int{1, 2}, false},
		{[]int{2, 3}, []int{0, 1}, false},
		{[]int{2, 1, 3}, []int{3, 77, 1}, true},
		{[]int{1}, []int{0}, true},
	} {
		if got := (View{Shape: test.shape, Stride: test.stride}).Contiguous(); got != test.want {
			t.Errorf("shape %v, stride %v: got %v, want %v", test.shape, test.stride, got, test.want)
		}
	}
}
