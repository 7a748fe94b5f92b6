package tensor

import (
	"errors"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/cpu"
)

// other is the CPU under another name.
type other struct{ *cpu.Backend }

func (other) Name() string { return "other" }

func init() {
	driver.Register(other{cpu.New(1)})
	driver.RegisterFamily("absent", func(device string) (driver.Backend, error) { return nil, errors.New(device + " is not here") })
}

func TestDefaultDevice(t *testing.T) {
	made := func() []*Tensor {
		return []*Tensor{New([]float64{1}), FromInts([]int{1}), Zeros(2), Full(3, 2), Rand(2), Randn(2), Randint(0, 5, 2), Arange(0, 3), Eye(2)}
	}
	on := func(want Device) {
		t.Helper()
		if got := DefaultDevice(); got != want {
			t.Errorf("default device: got %v, want %v", got, want)
		}
		for i, x := range made() {
			if x.Device() != want {
				t.Errorf("tensor %d: got device %v, want %v", i, x.Device(), want)
			}
		}
	}
	on(CPU)
	OnDevice("other", func() {
		on("other")
		OnDevice(CPU, func() { on(CPU) })
		NoGrad(func() { on("other") })
	})
	SetDefaultDevice("other")
	on("other")
	SetDefaultDevice(CPU)
	on(CPU)
	if err := Try(func() { SetDefaultDevice("absent:3") }); err == nil {
		t.Error("SetDefaultDevice of a missing device: got no error")
	}
	if CUDA.Available() || Accelerator() != CPU {
		t.Errorf("Accelerator without an accelerator: got %v", Accelerator())
	}
}

// TestCPUScalarsMoveToDevice checks that CPU scalars move to the device of the other operands, as in
// torch.
func TestCPUScalarsMoveToDevice(t *testing.T) {
	x := New([]float64{1, 2, 3}).ToDevice("other").RequireGrad()
	two := Scalar(2).RequireGrad()
	for _, y := range []*Tensor{x.Mul(two), two.Mul(x)} {
		if y.Device() != "other" {
			t.Errorf("product with a CPU scalar: got device %v, want other", y.Device())
		}
		wantValues(t, "values", y, 2, 4, 6)
	}
	x.Mul(two).Sum().Backward()
	if g := two.Grad(); g.Device() != CPU || g.Item() != 6 {
		t.Errorf("gradient of the scalar: got %v on %v, want 6 on cpu", g, g.Device())
	}
	err := Try(func() { x.Add(New([]float64{1, 2, 3})) })
	if want := "tensor: add: shapes (3,) and (3,): operands are on other and cpu; move them to one device with Tensor.ToDevice"; err == nil || err.Error() != want {
		t.Errorf("sum across devices: got %v, want %s", err, want)
	}
	y := Zeros(3)
	y.Assign(x.Detach())
	wantValues(t, "values", y, 1, 2, 3)
	if y.Device() != CPU {
		t.Errorf("assignment from another device: got device %v, want cpu", y.Device())
	}
}

// reads counts synchronisations.
type reads struct {
	other
	n int
}

func (*reads) Name() string { return "reads" }
func (r *reads) Read(p []byte, b driver.Buffer, off int) {
	r.n++
	r.other.Read(p, b, off)
}

var counted = &reads{other: other{cpu.New(1)}}

func init() { driver.Register(counted) }

// TestPositionsAreCheckedOnCPU checks that positions copied from the CPU are validated there, without
// synchronising the device.
func TestPositionsAreCheckedOnCPU(t *testing.T) {
	home := FromInts([]int{2, 0, 1, 1}, 2, 2)
	ids, weight := home.ToDevice("reads"), Arange(0, 12).Reshape(3, 4).ToDevice("reads")
	var own *Tensor
	OnDevice("reads", func() { own = FromInts([]int{3, 0, 1}) })
	counted.n = 0
	y := Embedding(ids, weight, EmbeddingOptions{})
	z := weight.IndexSelect(0, ids.Select(0, 1))
	loss := functional{}.CrossEntropy(weight, own, lossOptions{})
	if counted.n != 0 {
		t.Errorf("positions copied from the CPU: the device was synchronised %d times; want none", counted.n)
	}
	wantValues(t, "embedding", y, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7)
	wantValues(t, "rows", z, 4, 5, 6, 7, 4, 5, 6, 7)
	if x := loss.Item(); !(x > 1 && x < 3) {
		t.Errorf("loss: got %v", x)
	}

	home.Fill(7) // does not change the copy
	wantValues(t, "ids", ids.Float(), 2, 0, 1, 1)
	if got := ids.Ints(); got[0] != 2 {
		t.Errorf("after a change of the original: got %v, want 2 first", got)
	}
	ids = FromInts([]int{2, 0}).ToDevice("reads")
	ids.Fill(9)
	wantError(t, "ids out of range", func() { Embedding(ids, weight, EmbeddingOptions{}) }, "index 9 at (0,) is out of range")
}
