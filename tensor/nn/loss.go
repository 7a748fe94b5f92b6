package nn

import "halfnote/tensor"

// MSELoss returns the mean of the squared differences of x and target, which have
// one shape: a scalar. It is torch.nn.functional.mse_loss.
func MSELoss(x, target *tensor.Tensor) *tensor.Tensor { return x.MSELoss(target) }

// L1Loss returns the mean of the absolute differences of x and target, which have
// one shape: a scalar. It is torch.nn.functional.l1_loss.
func L1Loss(x, target *tensor.Tensor) *tensor.Tensor { return x.L1Loss(target) }
