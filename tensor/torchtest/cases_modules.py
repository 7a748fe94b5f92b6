"""Modules of torch.nn that are composed of other operations, with torch's parameters as operands."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from oracle import *

SINGLE = ("float32", "float64")


def flat(*ts):
    return torch.cat([t.reshape(-1) for t in ts])


def seeded(f):
    def g(*in_):
        torch.manual_seed(19)
        return f(*in_)

    return g


case("Flatten", lambda x: nn.Flatten(0, 1)(x), randn(2, 3, 4))
case("Unflatten", lambda x: nn.Unflatten(1, (2, -1))(x), randn(3, 6, 2))
case("Softmax2d", lambda x: nn.Softmax2d()(x), randn(2, 3, 2, 2))
case("Softmax2d single", lambda x: nn.Softmax2d()(x), randn(3, 2, 2))
case("RReLU", lambda x: nn.RReLU(0.1, 0.4).eval()(x), randn(3, 4))
case("RReLU training", seeded(lambda x: nn.RReLU(0.1, 0.4)(x)), randn(3, 7), dtypes=SINGLE)
case("CosineSimilarity", lambda x, y: nn.CosineSimilarity()(x, y), randn(3, 4), randn(3, 4), tol=4)
case("CosineSimilarity dim", lambda x, y: nn.CosineSimilarity(0, 0.5)(x, y), randn(3, 4), randn(3, 4), tol=4)
case("PairwiseDistance", lambda x, y: nn.PairwiseDistance()(x, y), randn(3, 4), randn(3, 4), tol=4, dtypes=SINGLE)
case("PairwiseDistance keep", lambda x, y: nn.PairwiseDistance(1, 0.25, True)(x, y), randn(3, 4), randn(4), tol=4, dtypes=SINGLE)
case("UpsamplingNearest2d", lambda x: nn.UpsamplingNearest2d(scale_factor=2)(x), randn(1, 2, 2, 3))
case("UpsamplingBilinear2d", lambda x: nn.UpsamplingBilinear2d(size=(4, 5))(x), randn(1, 2, 2, 3))
for swap in False, True:
    case(f"TripletMarginWithDistanceLoss{' swap' * swap}", lambda a, p, n, s=swap: nn.TripletMarginWithDistanceLoss(swap=s)(a, p, n), randn(4, 3), randn(4, 3), randn(4, 3), tol=4, dtypes=SINGLE)
case("TripletMarginWithDistanceLoss own", lambda a, p, n: nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().amax(-1), margin=2, reduction="none")(a, p, n), randn(4, 3), randn(4, 3), randn(4, 3), dtypes=SINGLE)
case("TripletMarginWithDistanceLoss sum", lambda a, p, n: nn.TripletMarginWithDistanceLoss(reduction="sum")(a, p, n), randn(4, 3), randn(4, 3), randn(4, 3), tol=4, dtypes=SINGLE)

positive = lambda *s: uniform(0.1, 2, *s)
case("LPPool1d", lambda x: nn.LPPool1d(2, 3, stride=2)(x), randn(2, 3, 7), dtypes=SINGLE, tol=4)
case("LPPool2d", lambda x: nn.LPPool2d(1.5, (2, 3))(x), positive(2, 2, 4, 6), dtypes=SINGLE, tol=4)
case("LPPool3d", lambda x: nn.LPPool3d(3, 2, stride=1)(x), positive(1, 2, 3, 3, 4), dtypes=SINGLE, tol=4)
case("LPPool3d single", lambda x: nn.LPPool3d(2, 2)(x), randn(2, 4, 2, 4), dtypes=SINGLE, tol=4)


def unpool(dims, size=None, **options):
    """Pools with indices, and puts x back at these indices."""
    pool = getattr(nn, f"MaxPool{dims}d")(**options, return_indices=True)
    back = getattr(nn, f"MaxUnpool{dims}d")(**options)


    def f(x, where):
        # torch calls the result undefined if two elements go to one place, which does not happen where a derivative is taken.
        torch.use_deterministic_algorithms(False)
        try:
            return back(x, pool(where)[1], size)
        finally:
            torch.use_deterministic_algorithms(True)

    return f


case("MaxUnpool1d", unpool(1, kernel_size=2), randn(2, 3, 3), fixed(randn(2, 3, 6)))
case("MaxUnpool1d size", unpool(1, (7,), kernel_size=2), randn(2, 3, 3), fixed(randn(2, 3, 7)))
case("MaxUnpool2d", unpool(2, kernel_size=2, stride=(2, 2)), randn(1, 2, 2, 3), fixed(randn(1, 2, 4, 6)))
case("MaxUnpool2d overlap", unpool(2, (1, 2, 7, 6), kernel_size=(3, 2), stride=2, padding=(1, 0)), randn(1, 2, 4, 3), fixed(values(torch.randperm(84, generator=torch.Generator().manual_seed(1)).reshape(1, 2, 7, 6).float().tolist())), grad=False)
case("MaxUnpool2d single", unpool(2, kernel_size=2), randn(2, 2, 3), fixed(randn(2, 4, 6)))
case("MaxUnpool3d", unpool(3, kernel_size=(1, 2, 2)), randn(1, 2, 2, 2, 1), fixed(randn(1, 2, 2, 4, 2)))


def both(pair):
    return flat(pair[0], pair[1].to(pair[0].dtype))


u2, u3 = fixed(uniform(0, 1, 2, 3, 2)), fixed(uniform(0, 1, 1, 2, 3))
FP = F.fractional_max_pool2d
case("FractionalMaxPool2d", seeded(lambda x: nn.FractionalMaxPool2d(2, output_size=4)(x)), randn(2, 3, 7, 9), dtypes=("float32",))
case("FractionalMaxPool2d ratio", seeded(lambda x: nn.FractionalMaxPool2d((3, 2), output_ratio=(0.5, 0.6))(x)), randn(2, 3, 9, 8), dtypes=("float32",))
case("FractionalMaxPool2d single", seeded(lambda x: nn.FractionalMaxPool2d(2, output_size=(3, 1))(x)), randn(3, 6, 5), dtypes=("float32",))
case("FractionalMaxPool2d indices", lambda x, u: both(FP(x, 2, output_size=(3, 4), return_indices=True, _random_samples=u)), randn(2, 3, 8, 9), u2, dtypes=SINGLE)
case("FractionalMaxPool2d ties", lambda x, u: both(FP(x, 3, output_size=(2, 3), return_indices=True, _random_samples=u)), fixed(values([[[[1.0, 1.0, 0.0, 2.0, 2.0, 2.0, 1.0]] * 5] * 3] * 2)), u2, dtypes=("float32",), grad=False)
case("FractionalMaxPool2d NaN", lambda x, u: both(FP(x, 3, output_size=(2, 3), return_indices=True, _random_samples=u)), fixed(values([[[[1.0, float("nan"), 0.0, 2.0, float("nan"), -float("inf"), 1.0]] * 5] * 3] * 2)), u2, dtypes=("float32",), grad=False)
case("FractionalMaxPool3d", seeded(lambda x: nn.FractionalMaxPool3d(2, output_size=3)(x)), randn(1, 2, 5, 6, 7), dtypes=("float32",))
case("FractionalMaxPool3d ratio", seeded(lambda x: nn.FractionalMaxPool3d((2, 1, 3), output_ratio=(0.5, 0.6, 0.7))(x)), randn(1, 2, 5, 6, 7), dtypes=("float32",))
case("FractionalMaxPool3d indices", lambda x, u: both(F.fractional_max_pool3d(x, 2, output_size=(2, 3, 4), return_indices=True, _random_samples=u)), randn(1, 2, 4, 6, 8), u3, dtypes=SINGLE)

logits = randn(4, 5)
for name, options in {"": {}, " tau": {"tau": 0.4}, " dim": {"dim": 0}, " hard": {"hard": True}, " hard dim": {"hard": True, "tau": 2, "dim": 0}}.items():
    case(f"GumbelSoftmax{name}", seeded(lambda x, o=options: F.gumbel_softmax(x, **o)), logits, dtypes=("float32",), tol=4)


def layer(name, make, call, *operands, tol=4, double=True, drawn=False, train=True, dtypes=SINGLE):
    """call(module's forward, operands), the parameters being the last operands. Where they are drawn, the
    parameters are those of the seed."""
    shapes = [p.shape for p in make().parameters()]
    n = len(operands)

    def f(*in_):
        torch.manual_seed(19)
        module = make().train(train)
        names = [n for n, _ in module.named_parameters()]
        module = module.to(in_[0].dtype)
        return call(lambda *a: functional_call(module, dict(zip(names, in_[n:])), a), *in_[:n])

    case(name, f, *operands, *[randn(*s, scale=0.5) for s in shapes], dtypes=dtypes, tol=tol, double=double)


ASM = nn.AdaptiveLogSoftmaxWithLoss
target = as_is(values([0, 7, 2, 9, 4, 3, 11]))
layer("AdaptiveLogSoftmaxWithLoss", lambda: ASM(8, 12, [3, 7], div_value=2), lambda run, x, t: flat(*run(x, t)), randn(7, 8), target)
layer("AdaptiveLogSoftmaxWithLoss bias", lambda: ASM(8, 12, [3, 7], div_value=2.0, head_bias=True), lambda run, x, t: flat(*run(x, t)), randn(3, 8), as_is(values([0, 1, 2])))
layer("AdaptiveLogSoftmaxWithLoss single", lambda: ASM(8, 12, [4]), lambda run, x, t: flat(*run(x, t)), randn(8), as_is(values(7)))


LCE = nn.LinearCrossEntropyLoss
classes = as_is(values([[0, 2], [1, 1], [2, 0]]))
layer("LinearCrossEntropyLoss", lambda: LCE(5, 3), lambda run, x, t: run(x, t), randn(3, 5), as_is(values([0, 2, 1])))
layer("LinearCrossEntropyLoss options", lambda: LCE(5, 3, out_features=(2,), bias=True, label_smoothing=0.1, reduction="none", ignore_index=1), lambda run, x, t: run(x, t), randn(3, 5), classes)
layer("LinearCrossEntropyLoss probabilities", lambda: LCE(5, 3, out_features=(2,), reduction="sum"), lambda run, x, t: run(x, t), randn(3, 5), fixed(uniform(0, 1, 3, 3, 2)))
case("LinearCrossEntropy", lambda x, w, t, b, c: F.linear_cross_entropy(x, w, t, linear_bias=b, weight=c), randn(3, 5), randn(4, 5), as_is(values([0, 2, 3])), randn(4), fixed(uniform(0.5, 2, 4)), dtypes=SINGLE, tol=4)
case("LinearCrossEntropy single", lambda x, w, t: F.linear_cross_entropy(x, w, t), randn(5), randn(4, 5), as_is(values(2)), dtypes=SINGLE, tol=4)


def asm(x, *ps):
    m = ASM(8, 12, [3, 7], div_value=2).to(x.dtype)
    with torch.no_grad():
        for p, q in zip(m.parameters(), ps):
            p.copy_(q)
    return m


shapes = [p.shape for p in ASM(8, 12, [3, 7], div_value=2).parameters()]
case("AdaptiveLogSoftmaxWithLoss log_prob", lambda x, *ps: asm(x, *ps).log_prob(x), fixed(randn(7, 8)), *[fixed(randn(*s)) for s in shapes], dtypes=SINGLE, grad=False)
case("AdaptiveLogSoftmaxWithLoss predict", lambda x, *ps: asm(x, *ps).predict(x), fixed(randn(29, 8)), *[fixed(randn(*s)) for s in shapes], dtypes=SINGLE, grad=False)

x, image = randn(3, 4), randn(2, 3, 5, 5)
# torch's second derivative of the fused operation takes the norms as constants, which they are not: the
# cases "written out" have the definition's.
layer("WeightNorm", lambda: weight_norm(nn.Linear(4, 3)), lambda run, x: run(x), x, double=False)
layer("WeightNorm dim", lambda: weight_norm(nn.Linear(4, 3), dim=1), lambda run, x: run(x), x, double=False)
layer("WeightNorm whole", lambda: weight_norm(nn.Linear(4, 3), dim=None), lambda run, x: run(x), x)
layer("WeightNorm convolution", lambda: weight_norm(nn.Conv2d(3, 2, 3)), lambda run, x: run(x), image, double=False)
layer("WeightNorm bias", lambda: weight_norm(nn.Linear(4, 3), name="bias", dim=None), lambda run, x: run(x), x)
case("WeightNorm written out", lambda x, b, g, v: F.linear(x, v * (g / v.norm(2, 1, keepdim=True)), b), x, randn(3), randn(3, 1), randn(3, 4), dtypes=SINGLE, tol=4)
case("WeightNorm written out convolution", lambda x, b, g, v: F.conv2d(x, v * (g / v.norm(2, (1, 2, 3), keepdim=True)), b), image, randn(2), randn(2, 1, 1, 1), randn(2, 3, 3, 3), dtypes=SINGLE, tol=4)
layer("SpectralNorm", lambda: spectral_norm(nn.Linear(4, 3)), lambda run, x: flat(run(x), run(x)), x, tol=16)
layer("SpectralNorm in use", lambda: spectral_norm(nn.Linear(4, 3)), lambda run, x: flat(run(x), run(x)), x, train=False, tol=16)
layer("SpectralNorm steps", lambda: spectral_norm(nn.Linear(4, 3), n_power_iterations=3, dim=1), lambda run, x: run(x), x, tol=16)
layer("SpectralNorm convolution", lambda: spectral_norm(nn.Conv2d(3, 2, 3)), lambda run, x: run(x), image, tol=16)
layer("SpectralNorm transposed", lambda: spectral_norm(nn.ConvTranspose2d(3, 2, 3)), lambda run, x: run(x), image, tol=16)
layer("SpectralNorm bias", lambda: spectral_norm(nn.Linear(4, 3), name="bias"), lambda run, x: run(x), x, tol=4)
