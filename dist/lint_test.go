package dist_test

import (
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/amp/trace"
	"halfnote/dist"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestLintOnRanks runs the linter on steps whose ranks disagree, and on correct ones.
func TestLintOnRanks(t *testing.T) {
	dist.OnRanks(t, 2, func(t *testing.T) {
		x, y := tensor.Randn(64, 64), tensor.Rand(64, 64)
		lint := func(scaler *amp.GradScaler, spoil bool) []string {
			net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64))
			opt := optim.NewSGD(nn.Parameters(net), 0.01)
			return diagnose.Lint(net, func() {
				var loss *tensor.Tensor
				amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
				scaler.Scale(loss).Backward()
				if spoil && dist.Rank() == 1 {
					nn.Parameters(net)[0].Grad().Fill(math.Inf(1))
				}
				scaler.Step(opt)
				scaler.Update()
				opt.ZeroGrad()
			}).Codes()
		}
		for _, test := range []struct {
			name   string
			scaler *amp.GradScaler
			spoil  bool
			code   string
			want   bool
		}{
			{"a plain scaler with an overflow on one rank", amp.NewGradScaler(amp.InitScale(1024)), true, "found-inf-local", true},
			{"a sharded scaler with an overflow on one rank", dist.NewShardedGradScaler(amp.InitScale(1024)), true, "found-inf-local", false},
			{"scales that differ", amp.NewGradScaler(amp.InitScale(1024 * float64(1+dist.Rank()))), false, "scale-differs", true},
			{"correct steps", amp.NewGradScaler(amp.InitScale(1024)), false, "scale-differs", false},
		} {
			if got := lint(test.scaler, test.spoil); slices.Contains(got, test.code) != test.want {
				t.Errorf("%s: got %q; %s among them: want %v", test.name, got, test.code, test.want)
			}
		}
	})
}

// TestRecordedWire records steps of two ranks: bytes and errors of the sums by the dtype on the wire.
func TestRecordedWire(t *testing.T) {
	dist.OnRanks(t, 2, func(t *testing.T) {
		for _, test := range []struct {
			hook  dist.CommHook
			dtype tensor.DType
			most  float64
		}{{dist.AllReduceHook, tensor.Float32, 1e-6}, {dist.BF16CompressHook, tensor.BFloat16, 1e-2}} {
			net := dist.NewDistributedDataParallel(nn.NewLinear(32, 16))
			net.RegisterCommHook(test.hook)
			rec := trace.Start()
			nn.MSELoss(net.Forward(tensor.NewGenerator(int64(dist.Rank())).Randn(8, 32)), tensor.Zeros(8, 16)).Backward()
			rec.Stop()
			list := rec.Transfers()
			if len(list) != 1 {
				t.Fatalf("%v: %d transfers, want 1", test.dtype, len(list))
			}
			e := list[0]
			if want := (32*16 + 16) * test.dtype.Size(); e.DType != test.dtype || e.Bytes != want || e.Bucket != 0 {
				t.Errorf("got %d bytes of %v in bucket %d, want %d of %v in bucket 0", e.Bytes, e.DType, e.Bucket, want, test.dtype)
			}
			if e.Checked == 0 || e.MaxError > test.most || test.dtype == tensor.BFloat16 && e.MaxError == 0 {
				t.Errorf("%v: the largest of %d errors is %g, want at most %g", test.dtype, e.Checked, e.MaxError, test.most)
			}
		}
	})
}
