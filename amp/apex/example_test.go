package apex_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// O2 converts the model to float16 and keeps float32 master weights for the optimizer.
func ExampleInitialize() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 4))
	base := optim.NewSGD(nn.Parameters(net), 0.1)
	model, opt := apex.Initialize(net, base, apex.O2.LossScale(128).Verbosity(0))

	x, y := tensor.Randn(32, 8), tensor.Randn(32, 4)
	for range 3 {
		loss := nn.MSELoss(model.Forward(x), y)
		apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		opt.Step()
		opt.ZeroGrad()
		fmt.Printf("loss %.2f\n", loss.Item())
	}
	fmt.Println("model:", nn.Parameters(model)[0].DType())
	fmt.Println("masters:", apex.MasterParams(opt)[0].DType())
	// Output:
	// loss 1.10
	// loss 1.07
	// loss 1.04
	// model: float16
	// masters: float32
}

func ExampleOptLevels() {
	fmt.Println(apex.OptLevels())
	// Output:
	// property               O0                O1                       O2                                                            O3
	// what it is             float32 training  casts around operations  float16 training with float32 batch norms and master weights  float16 training
	// cast_model_type        torch.float32     None                     torch.float16                                                 torch.float16
	// patch_torch_functions  False             True                     False                                                         False
	// keep_batchnorm_fp32    None              None                     True                                                          False
	// master_weights         False             None                     True                                                          False
	// loss_scale             1.0               dynamic                  dynamic                                                       1.0
}

// O1 casts around operations. A policy moves one of them.
func ExampleOptLevel_WithPolicy() {
	net := nn.NewSequential(nn.NewLinear(4, 4), nn.NewSigmoid())
	policy := apex.Float16.With("sigmoid", amp.FP32)
	model, _ := apex.Initialize(net, optim.NewSGD(nn.Parameters(net), 0.1), apex.O1.WithPolicy(policy).Verbosity(0))
	fmt.Println(model.Forward(tensor.Ones(2, 4)).DType())
	// Output: float32
}
