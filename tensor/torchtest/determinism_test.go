package torchtest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/cpu"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// workersBackend is the CPU with its own number of workers.
type workersBackend struct {
	*cpu.Backend
	workers int
}

func (c workersBackend) Name() string { return fmt.Sprint("cpu with ", c.workers) }

func init() {
	for n := 1; n <= 8; n++ {
		driver.Register(workersBackend{cpu.New(n), n})
	}
}

// TestDeterminism trains networks with 1 to 8 workers and with the default number and compares the bits of
// their weights. TestBits compares processors, case by case.
func TestDeterminism(t *testing.T) {
	for name, make := range map[string]func() (nn.Module, T){"mlp": wideMLP, "cnn": wideCNN, "attention": wideAttention} {
		for _, p := range []amp.Policy{amp.Off, amp.Float16, amp.BFloat16} {
			want := trained(tensor.CPU, p, make)
			for n := 1; n <= 8; n++ {
				if got := trained(tensor.Device(workersBackend{workers: n}.Name()), p, make); got != want {
					t.Errorf("%s, %v on %d workers: the weights' checksum is %#08x, want %#08x as on the CPU", name, p, n, got, want)
				}
			}
		}
	}
}

// The networks and their inputs are large enough to use all workers.

func wideMLP() (nn.Module, T) {
	return nn.NewSequential(nn.NewLinear(130, 257), nn.NewReLU(), nn.NewLinear(257, 70), nn.NewGELU(), nn.NewLinear(70, 10)), tensor.Randn(129, 130)
}

func wideCNN() (nn.Module, T) {
	return nn.NewSequential(
		nn.NewConv2d(3, 24, 3), nn.NewBatchNorm2d(24), nn.NewReLU(), nn.NewMaxPool2d(2),
		nn.NewConv2d(24, 20, 3, nn.Stride(2)), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(20*4*4, 10),
	), tensor.Randn(9, 3, 22, 22)
}

func wideAttention() (nn.Module, T) {
	layer := nn.NewTransformerEncoderLayer(48, 4, nn.DimFeedforward(96), nn.DropoutP(0), nn.BatchFirst())
	return nn.NewSequential(layer, nn.NewFlatten(), nn.NewLinear(48*33, 10)), tensor.Randn(7, 33, 48)
}

// trained returns the checksum of the weights after two steps on d.
func trained(d tensor.Device, p amp.Policy, make func() (nn.Module, T)) uint32 {
	tensor.ManualSeed(4)
	net, x := make()
	x = x.ToDevice(d)
	classes := tensor.Randint(0, 10, x.Size(0)).ToDevice(d)
	nn.To(net, d)
	params := nn.Parameters(net)
	opt := optim.NewAdamW(params, 1e-3)
	for range 2 {
		var loss T
		amp.Autocast(p, func() { loss = nn.CrossEntropy(net.Forward(x), classes) })
		opt.ZeroGrad()
		loss.Backward()
		nn.ClipGradNorm(params, 0.5)
		opt.Step()
	}
	sum := crc32.NewIEEE()
	for _, w := range params {
		for _, b := range w.Bits() {
			binary.Write(sum, binary.LittleEndian, b)
		}
	}
	return sum.Sum32()
}
