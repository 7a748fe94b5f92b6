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

// TestDeterminism trains a network on 1 to 8 workers and on the default number: its weights have
// the same bits in the end. That other processors give the same bits is TestBits'
// to show, case by case.
func TestDeterminism(t *testing.T) {
	for _, p := range []amp.Policy{amp.Off, amp.Float16, amp.BFloat16} {
		want := trained(tensor.CPU, p)
		for n := 1; n <= 8; n++ {
			if got := trained(tensor.Device(crowd{workers: n}.Name()), p); got != want {
				t.Errorf("%v on %d workers: the weights' checksum is %#08x, want %#08x as on the CPU", p, n, got, want)
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
