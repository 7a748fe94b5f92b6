package nn_test

import (
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestSequentialContainingItself checks that a chain that contains itself, at any depth, is an
// error, and that a chain may be used twice.
func TestSequentialContainingItself(t *testing.T) {
	refused := func(name string, f func()) {
		defer func() {
			if e, ok := recover().(*tensor.Error); !ok || !strings.Contains(e.Error(), "contains") {
				t.Errorf("%s: got %v, want an error naming the cycle", name, e)
			}
		}()
		f()
	}
	c := nn.NewSequential(nn.NewReLU())
	refused("Append of itself", func() { c.Append(c) })
	refused("Append of a chain with it", func() { c.Append(nn.NewSequential(nn.NewSequential(c))) })
	refused("Append of a module and a chain with it", func() { c.Append(nn.NewTanh(), nn.NewSequential(c)) })
	if got := nn.NewSequential().Append(nn.NewReLU(), nn.NewTanh()); len(got.Modules) != 2 {
		t.Errorf("Append of two modules: got %v", got)
	}
	twice := nn.NewSequential(c, c)
	if got := twice.Forward(tensor.Ones(2)).At(0); got != 1 {
		t.Errorf("a chain used twice: got %v, want 1", got)
	}
	c.Modules = append(c.Modules, nn.NewSequential(c))
	refused("Forward", func() { c.Forward(tensor.Ones(2)) })
	if got := c.String(); !strings.Contains(got, "contains itself") {
		t.Errorf("String of the cycle: got %s", got)
	}
}
