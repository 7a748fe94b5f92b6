//go:build unix

package jupyter

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func TestParentEnded(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		id   string
		want bool
	}{
		{"the parent", strconv.Itoa(os.Getppid()), false},
		{"no number", "x", false},
		{"the first process", "1", false},
	} {
		if got := parentEnded(c.id)(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
	if alive(gone.Process.Pid) {
		t.Error("a process that has ended and was waited for: got alive")
	}
	for _, c := range []struct {
		what                string
		parent, self, group int
		want                bool
	}{
		{"given to the first process", 1, 50, 50, true},
		{"collected by another process", 40, 50, 50, true},
		{"the first process of a container", 0, 1, 1, false},
		{"a child of a container's script", 7, 50, 7, false},
	} {
		if got := orphaned(c.parent, c.self, c.group); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}
