"""Checks of values. Each part takes the report and the device."""

import math

import numpy as np
import torch
import torch.nn.functional as F

INF = math.inf
half, bf16 = torch.float16, torch.bfloat16


def maker(device, dtype=half):
    """Returns a function that converts data to a tensor by way of float32."""
    return lambda data: torch.tensor(data, dtype=torch.float32).to(device, dtype)


def named(x):
    """Returns the dtype and the elements of x."""
    return [x.dtype, x]


def running(start, term, n, device):
    """Returns start plus n times term in half precision, with one kernel per addition."""
    x, term = (torch.tensor(v, dtype=half, device=device) for v in (start, term))
    for _ in range(n):
        x += term
    return x


def update(scale, device, found=0.0, times=1):
    """Returns the scale and the tracker after updates with growth 2, backoff 0.5 and interval 1."""
    s, tracker = torch.tensor(scale, device=device), torch.tensor(0, dtype=torch.int32, device=device)
    for _ in range(times):
        torch._amp_update_scale_(s, tracker, torch.tensor(found, device=device), 2.0, 0.5, 1)
    return [s, tracker]


def numbers(report, device):
    """Checks derived values: sums, products, functions, the loss scale."""
    report.part("numbers")
    h, check = maker(device), report.check
    ones = lambda *shape, dtype=half: torch.ones(*shape, dtype=dtype, device=device)

    def summed():
        with torch.autocast(device, half):
            return named(ones(65536).sum())

    if device == "cuda":
        check("autocast: ones(65536,half).sum()", [torch.float32, 65536.0], summed)
    for n, want in (2049, 2048.0), (65519, 65504.0), (65520, INF):
        check(f"ones({n},half).sum()", want, lambda n=n: ones(n).sum())
    check("half [60000,60000,-60000].sum()", 60000.0, lambda: h([60000.0, 60000.0, -60000.0]).sum())
    check("ones(65536,half).mean()", 1.0, lambda: ones(65536).mean())
    check("full(4096,100,half).mean()", 100.0, lambda: (ones(4096) * 100).mean())
    check("half [300,400].norm()", 500.0, lambda: h([300.0, 400.0]).norm())
    check("half [60000,60000].norm()", INF, lambda: h([60000.0, 60000.0]).norm())
    check("half ones(1,4097)@ones(4097,1)", [[4096.0]], lambda: ones(1, 4097) @ ones(4097, 1))
    check("half 256@256", [[INF]], lambda: h([[256.0]]) @ h([[256.0]]))
    check("half [[60000,60000]]@[[1],[-1]]", [[0.0]], lambda: h([[60000.0, 60000.0]]) @ h([[1.0], [-1.0]]))
    check("half [[2048,1]]@[[1],[1]]", [[2048.0]], lambda: h([[2048.0, 1.0]]) @ h([[1.0], [1.0]]))
    check("half addmm(bias 1, product 2048)", [[2048.0]], lambda: torch.addmm(h([1.0]), h([[2048.0]]), h([[1.0]])))
    check("bfloat16 ones(1,300)@ones(300,1)", [[300.0]], lambda: ones(1, 300, dtype=bf16) @ ones(300, 1, dtype=bf16))
    check("half softmax([1,2,3])", [0.09002685546875, 0.2447509765625, 0.6650390625], lambda: h([1.0, 2.0, 3.0]).softmax(0))
    check("half softmax([60000,0])", [1.0, 0.0], lambda: h([60000.0, 0.0]).softmax(0))
    check("half softmax([0,-20]), second value", 0.0, lambda: h([0.0, -20.0]).softmax(0)[1])
    check("half exp([11, 11.09375, -17, -18])", [59872.0, INF, 2.0**-24, 0.0], lambda: h([11.0, 11.09375, -17.0, -18.0]).exp())
    check("half sigmoid([8, 8.4])", [0.99951171875, 1.0], lambda: h([8.0, 8.4]).sigmoid())
    check("half: 5000 ones added one by one", 2048.0, lambda: running(0.0, 1.0, 5000, device))
    check("half: 10000 times 0.1 added one by one", 256.0, lambda: running(0.0, 0.1, 10000, device))
    check("half: weight 1 after 10000 updates of 1e-4", 1.0, lambda: running(1.0, 1e-4, 10000, device))
    check("growth of the scale 2^127, and the tracker", [2.0**127, 0], lambda: update(2.0**127, device))
    check("65536 after 165 backoffs in a row", [2.0**-149, 0], lambda: update(65536.0, device, 1.0, 165))
    check("65536 after 166 backoffs in a row", [0.0, 0], lambda: update(65536.0, device, 1.0, 166))


def scalars(report, device):
    """Checks that Python numbers stay in float32, and tensors without dimensions are rounded to half."""
    report.part("scalars")
    h, b, check = maker(device), maker(device, bf16), report.check
    x = h([1e-3, 1.0])
    scale = torch.tensor(65536.0, device=device)
    check("half [1e-3,1] * 70000", [half, [70.0, INF]], lambda: named(x * 70000.0))
    check("half [1e-3,1] * 0-dim float32 65536", [half, [INF, INF]], lambda: named(x * scale))
    check("half 0-dim 1e-3 * 0-dim float32 65536", [torch.float32, 65.5625], lambda: named(h(1e-3) * scale))
    if device == "cuda":
        check("half [1e-3,1] * 0-dim float32 65536 on the CPU", None, lambda: named(x * scale.cpu()))
    scaler = lambda: torch.amp.GradScaler(device)
    check("GradScaler.scale(half [1e-3,1])", [half, [INF, INF]], lambda: named(scaler().scale(x)))
    check("GradScaler.scale(half 0-dim 1e-3)", [torch.float32, 65.5625], lambda: named(scaler().scale(h(1e-3))))
    tenth = h([0.1, 0.1])
    for name, want in ("eq", False), ("ne", True), ("lt", True), ("le", True), ("gt", False), ("ge", False):
        check(f"half 0.1 {name} the number 0.1", [want, want], lambda name=name: getattr(torch, name)(tenth, 0.1))
    check("bfloat16 0.1 eq, gt the number 0.1", [[False], [True]], lambda: [b([0.1]) == 0.1, b([0.1]) > 0.1])
    check("half 0.1 == float32 [0.1]", [False, False], lambda: tenth == torch.tensor([0.1], device=device))


def bias(report, device):
    """Checks whether a product is rounded before its bias is added.

    The product is 2049 (257 in bfloat16) and the bias 1: 2050 if they are summed in
    float32, 2048 if the product is rounded first.
    """
    report.part("bias: distinct elements")
    check = report.check
    for dtype, top in (half, 2048.0), (bf16, 256.0):
        name, want = str(dtype).removeprefix("torch."), [top + 2]

        def operands(m, k, n, at=(0, 1), dtype=dtype, top=top):
            x = torch.zeros(m, k, dtype=dtype, device=device)
            x[:, list(at)] = 1
            x[:, 0] = top
            return x, torch.ones(n, k, dtype=dtype, device=device), torch.ones(n, dtype=dtype, device=device)

        for shape in (1, 2, 1), (8, 8, 8), (33, 17, 65), (64, 64, 64), (512, 512, 512), (2048, 64, 1000):
            x, w, b = operands(*shape)
            check(f"{name} linear m,k,n = {shape}", want, lambda: F.linear(x, w, b).unique())
        x, w, b = operands(64, 64, 64)
        check(f"{name} linear of three dimensions", want, lambda: F.linear(x.reshape(4, 16, 64), w, b).unique())
        check(f"{name} addmm, matrix added", want, lambda: torch.addmm(torch.ones_like(x), x, w.t()).unique())
        check(f"{name} baddbmm", want, lambda: torch.baddbmm(torch.ones_like(x)[None], x[None], w.t()[None]).unique())
        for shape in (8, 4096, 8), (64, 65536, 64):
            x, w, _ = operands(*shape, at=(1, shape[1] - 1))
            check(f"{name} product without bias m,k,n = {shape}", want, lambda: (x @ w.t()).unique())

        def convolved(f, dims, channels, kernel, groups=1, last=False, dtype=dtype, top=top):
            each = channels // groups
            x = torch.zeros(2, channels, *[6] * dims, dtype=dtype, device=device)
            x[:, ::each], x[:, each - 1 :: each] = top, 1
            w = torch.zeros(channels, each, *[kernel] * dims, dtype=dtype, device=device)
            w[(..., *[kernel // 2] * dims)] = 1
            if last:
                x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
            b = torch.ones(channels, dtype=dtype, device=device)
            return f(x, w, b, padding=kernel // 2, groups=groups).unique()

        for channels, kernel in (2, 1), (2, 3), (64, 1), (64, 3):
            for last in False, True:
                memory = ", channels last" if last else ""
                check(f"{name} conv2d, {channels} channels, kernel {kernel}{memory}", want, lambda: convolved(F.conv2d, 2, channels, kernel, last=last))
        check(f"{name} conv2d, 4 groups of 2", want, lambda: convolved(F.conv2d, 2, 8, 3, groups=4))
        check(f"{name} conv1d, 16 channels, kernel 3", want, lambda: convolved(F.conv1d, 1, 16, 3))
        check(f"{name} conv3d, 16 channels, kernel 3", want, lambda: convolved(F.conv3d, 3, 16, 3))
        check(f"{name} conv_transpose2d, 16 channels, kernel 3", want, lambda: convolved(F.conv_transpose2d, 2, 16, 3))


def cumsum(report, device):
    """Compares cumsum of half precision with a sum carried in float32 whose elements are rounded."""
    report.part("cumsum")
    check = report.check
    ones = torch.ones(3000, dtype=half, device=device)
    check("cumsum of ones(3000,half), last value", 3000.0, lambda: ones.cumsum(0)[-1])

    def apart(f, carry, x, dim):
        """Returns the number of elements that differ from the carried sum, and the largest difference in ulp."""
        want = torch.from_numpy(carry(x.float().cpu().numpy(), axis=dim, dtype=np.float32)).to(x.dtype)
        away = ulps(f(x, dim).cpu(), want)
        n = int((away > 0).sum())
        return "0" if n == 0 else f"{n} of {away.numel()}, at most {int(away.max())} ulp, the first at {int((away.flatten() > 0).nonzero()[0])}"

    def again(x):
        first = x.cumsum(0)
        return all(torch.equal(first, x.cumsum(0)) for _ in range(10))

    check("cumsum of ones: elements that differ from the float32 carry", "0", lambda: apart(torch.cumsum, np.cumsum, ones, 0))
    g = torch.Generator().manual_seed(1)
    for shape, dim in ((3000,), 0), ((100000,), 0), ((8, 3000), 1), ((3000, 8), 0):
        for dtype in half, bf16:
            x = torch.randn(shape, generator=g).to(device, dtype)
            name = f"{str(dtype).removeprefix('torch.')} {list(shape)} along {dim}"
            check(f"{name}: elements that differ from the carry", "0", lambda: apart(torch.cumsum, np.cumsum, x, dim))
            check(f"{name}: equal in ten runs", True, lambda: again(x))
    x = (torch.rand(3000, generator=g) * 0.1 + 0.95).to(device, half)
    check("half cumprod [3000]: elements that differ from the carry", "0", lambda: apart(torch.cumprod, np.cumprod, x, 0))


def ulps(x, y):
    """Returns the distance from x to y in numbers of their 16-bit dtype. NaNs are equal, and far from numbers."""
    place = lambda t: (lambda i: torch.where(i < 0, -(i & 0x7FFF), i))(t.contiguous().view(torch.int16).to(torch.int32))
    away = (place(x) - place(y)).abs()
    away[x.isnan() & y.isnan()] = 0
    away[x.isnan() != y.isnan()] = 1 << 16
    return away


def cache(report, device):
    """Checks that gradients of a weight's uses are summed in half with autocast's cache, and in float32 without it."""
    report.part("cache")

    def gradient(enabled, *factors):
        w = torch.ones(1, 1, device=device, requires_grad=True)
        with torch.autocast(device, half, cache_enabled=enabled):
            products = [torch.tensor([[f]], device=device) @ w for f in factors]
        sum(p.float() for p in products).sum().backward()
        return named(w.grad)

    for factors, on, off in ((60000.0, 60000.0), INF, 120000.0), ((2048.0, 1.0), 2048.0, 2049.0):
        report.check(f"gradient of two uses, {factors}, cache on", [torch.float32, [[on]]], lambda: gradient(True, *factors))
        report.check(f"gradient of two uses, {factors}, cache off", [torch.float32, [[off]]], lambda: gradient(False, *factors))
