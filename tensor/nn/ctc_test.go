package nn_test

import (
	"runtime"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
)

func TestCTCErrors(t *testing.T) {
	x, target := tensor.Randn(5, 2, 4).LogSoftmax(-1), tensor.FromInts([]int{1, 2, 3, 3}, 2, 2)
	long := func(n ...int) *tensor.Tensor { return tensor.FromInts(n) }
	for want, f := range map[string]func(){
		"tensor: ctc_loss: an operand is nil":                                                                                          func() { nn.CTCLoss(x, target, nil, long(2, 2)) },
		"tensor: ctc_loss: shape (4,): want non-empty log-probabilities":                                                               func() { nn.CTCLoss(tensor.Zeros(4), target, long(5, 5), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2,): input length 1 is 6; want 0 to 5":                                                func() { nn.CTCLoss(x, target, long(5, 6), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2,): target length 0 is 3; want 0 to 2":                                               func() { nn.CTCLoss(x, target, long(5, 5), long(3, 2)) },
		"tensor: ctc_loss: dtypes float32 and int64: input lengths do not match the input; want one integer for each sample, 2 in all": func() { nn.CTCLoss(x, target, long(5), long(2, 2)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (4,): the target lengths add":                                                          func() { nn.CTCLoss(x, target.Reshape(4), long(5, 5), long(2, 1)) },
		"tensor: ctc_loss: shapes (5, 2, 4) and (2, 2): element 0 of target 1 is 4; want a class from 0 to 3":                          func() { nn.CTCLoss(x, target.AddScalar(1), long(5, 5), long(2, 2)) },
		"tensor: ctc_loss: shape (5, 2, 4): Blank is 4; want a class from 0 to 3":                                                      func() { nn.CTCLoss(x, target, long(5, 5), long(2, 2), nn.Blank(4)) },
		"tensor: ctc_loss: Forward was not called with four tensors":                                                                   func() { nn.NewCTCLoss().Forward(x, target) },
		"tensor: CTCLoss: option Margin is not supported here":                                                                         func() { nn.NewCTCLoss(nn.Margin(1)) },
		"tensor: ctc_loss_double_backward: shape (5, 2, 4): the third derivative is not supported": func() {
			x := x.Detach().RequireGrad()
			y := nn.CTCLoss(x, target, long(5, 5), long(2, 2))
			for range 3 {
				g := tensor.GradWith(y, []*tensor.Tensor{x}, tensor.BackwardOptions{CreateGraph: true})
				y = g[0].Mul(g[0]).Sum()
			}
		},
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got := nn.NewCTCLoss(nn.Blank(1)).String(); got != "CTCLoss()" {
		t.Errorf("got %s, want CTCLoss()", got)
	}
}

// TestCTCLossCanBeInterrupted checks that a long loss and its derivative end when a poll panics.
func TestCTCLossCanBeInterrupted(t *testing.T) {
	const times, length = 1000, 200
	classes := make([]int, length)
	for i := range classes {
		classes[i] = 1 + i%3
	}
	x := tensor.Zeros(times, 1, 4).LogSoftmax(-1).RequireGrad()
	loss := func() *tensor.Tensor {
		return nn.CTCLoss(x, tensor.FromInts(classes), tensor.FromInts([]int{times}), tensor.FromInts([]int{length}))
	}
	y := loss()
	for name, f := range map[string]func(){"forward": func() { loss() }, "backward": func() { y.Backward() }} {
		polls := 0
		driver.SetHost(driver.Host{Poll: func() {
			if polls++; polls == times/2 {
				panic("interrupted")
			}
		}})
		func() {
			defer driver.SetHost(driver.Host{})
			defer func() {
				if p := recover(); p != "interrupted" {
					t.Errorf("%s: ended after %d polls with %v, want \"interrupted\"", name, polls, p)
				}
			}()
			f()
		}()
	}
}

// TestCTCBackwardMemory checks that the derivative of a long sequence allocates far less than the
// forward variables, which are one number for each time step and label.
func TestCTCBackwardMemory(t *testing.T) {
	const times, length = 2000, 200
	classes := make([]int, length)
	for i := range classes {
		classes[i] = 1 + i%3
	}
	x := tensor.Zeros(times, 1, 4).LogSoftmax(-1).RequireGrad()
	y := nn.CTCLoss(x, tensor.FromInts(classes), tensor.FromInts([]int{times}), tensor.FromInts([]int{length}))
	const variables = times * (2*length + 1) * 8
	peak := uint64(0)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	polls := 0
	driver.SetHost(driver.Host{Poll: func() {
		if polls++; polls%500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}})
	defer driver.SetHost(driver.Host{})
	y.Backward()
	if used := int64(peak) - int64(before); peak == 0 || used > variables/4 {
		t.Errorf("the derivative allocated %d bytes; want less than a quarter of %d", used, variables)
	}
}
