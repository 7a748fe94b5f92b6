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

// crowd is the CPU with its own number of workers.
type crowd struct {
	*cpu.Backend
	workers int
}

func (c crowd) Name() string { return fmt.Sprint("cpu with ", c.workers) }

func init() {
	for n := 1; n <= 8; n++ {
		driver.Register(crowd{cpu.New(n), n})
	}
}

// TestDeterminism trains a network on 1 to 8 workers: its weights have the same
// bits in the end, and those bits are the same on all processors, amd64 and arm64
// among them, whose compiler fuses products and sums where code lets it.
func TestDeterminism(t *testing.T) {
	for _, c := range []struct {
		policy amp.Policy
		want   uint32
	}{{amp.Off, 0x07a2d013}, {amp.Float16, 0x9541d523}, {amp.BFloat16, 0xe4be6a60}} {
		for n := 1; n <= 8; n++ {
			if got := trained(tensor.Device(crowd{workers: n}.Name()), c.policy); got != c.want {
				t.Errorf("%v on %d workers: the weights' checksum is %#08x, want %#08x", c.policy, n, got, c.want)
			}
		}
	}
}

// trained returns the checksum of the weights after some steps on d. Its tensors are
// large enough for all workers to have a part.
func trained(d tensor.Device, p amp.Policy) uint32 {
	tensor.ManualSeed(4)
	net := nn.Sequential(nn.NewLinear(130, 257), nn.ReLU(), nn.NewLinear(257, 70), nn.GELU(), nn.NewLinear(70, 10))
	x, y := tensor.Randn(129, 130).ToDevice(d), tensor.Randn(129, 10).ToDevice(d)
	nn.To(net, d)
	params := nn.Parameters(net)
	opt := optim.NewAdamW(params, 1e-3)
	for range 2 {
		var loss T
		amp.Autocast(p, func() { loss = net.Forward(x).LogSoftmax(1).MSELoss(y).Add(net.Forward(x).Norm()) })
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
