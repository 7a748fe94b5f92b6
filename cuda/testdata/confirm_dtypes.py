"""Expected dtypes of calls under autocast to float16, by group."""

import torch
import torch.nn.functional as F

f16, bf16, f32, f64, i32 = torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32


def dtypes(report, device):
    """Runs every call in a region of float16."""
    report.part("dtypes under autocast to float16")
    make = lambda dtype, *shape: (torch.rand(*(shape or (8, 8)), device=device) / 2 + 0.25).to(dtype)
    x, w, h, b, d = make(f32), make(f32), make(f16), make(bf16), make(f64)
    v, vh = make(f32, 8), make(f16, 8)
    cube, image, imageh = make(f32, 2, 8, 8), make(f32, 2, 8, 6, 6), make(f16, 2, 8, 6, 6)
    index = torch.zeros(8, dtype=torch.long, device=device)
    rows = torch.zeros(8, 8, dtype=torch.long, device=device)
    ints = torch.arange(8, device=device, dtype=i32)

    def gradients():
        """Returns the dtypes of the gradients of a leaf and of an intermediate tensor."""
        leaf = make(f32).requires_grad_()
        y = x @ leaf
        y.retain_grad()
        y.relu().sum().backward()
        return [leaf.grad.dtype, y.grad.dtype]

    def nested(to):
        y = x @ w
        with torch.autocast(device, enabled=False):
            return to(y)

    halves, singles = {
        "mm": lambda: x @ w, "linear": lambda: F.linear(x, w, v), "conv2d": lambda: F.conv2d(image, make(f32, 4, 8, 3, 3)),
        "bmm": lambda: torch.bmm(cube, cube), "einsum": lambda: torch.einsum("ij,jk->ik", x, w),
        "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(cube, cube, cube),
        "prelu": lambda: torch.prelu(x, v), "gru_cell": lambda: torch.gru_cell(x, w, make(f32, 24, 8), make(f32, 24, 8)),
        "mm(half, float32)": lambda: h @ w, "mm(bfloat16, float32)": lambda: b @ w,
        "relu(linear)": lambda: F.linear(x, w).relu(), "dropout(half)": lambda: F.dropout(h), "gelu(half)": lambda: F.gelu(h),
        "tanh(half)": lambda: h.tanh(), "sigmoid(half)": lambda: h.sigmoid(), "max_pool2d(half)": lambda: F.max_pool2d(imageh, 2),
        "batch_norm(half)": lambda: F.batch_norm(imageh, v.clone(), v.clone(), v, v, training=True),
        "mean(half)": lambda: h.mean(), "sqrt(half)": lambda: h.sqrt(),
        "sum(half, dtype=half)": lambda: h.sum(dtype=f16), "softmax(half, dtype=half)": lambda: h.softmax(0, dtype=f16),
        "add(half, half)": lambda: h + h, "mul(half, half)": lambda: h * h, "cat(half, half)": lambda: torch.cat([h, h]),
        "stack(half, half)": lambda: torch.stack([h, h]), "half / half": lambda: h / h,
    }, {
        "sum(half)": lambda: h.sum(), "softmax(half)": lambda: h.softmax(0), "log_softmax(half)": lambda: h.log_softmax(0),
        "exp(half)": lambda: h.exp(), "log(half)": lambda: h.log(), "pow(half)": lambda: h**2, "norm(half)": lambda: h.norm(),
        "layer_norm(half)": lambda: F.layer_norm(h, (8,)), "prod(half)": lambda: h.prod(), "cumsum(half)": lambda: h.cumsum(0),
        "logsumexp(half)": lambda: h.logsumexp(0), "mse_loss(half)": lambda: F.mse_loss(h, h),
        "cross_entropy(half)": lambda: F.cross_entropy(h, index), "bce_with_logits(half)": lambda: F.binary_cross_entropy_with_logits(h, h),
        "add(half, float32)": lambda: h + x, "mul(half, float32)": lambda: h * x, "cat(half, float32)": lambda: torch.cat([h, x]),
        "stack(half, float32)": lambda: torch.stack([h, x]), "addcmul(half, float32, half)": lambda: torch.addcmul(h, x, h),
        "atan2(half, float32)": lambda: torch.atan2(h, x), "dot(half, float32)": lambda: torch.dot(vh, v),
        "tensordot(half, float32)": lambda: torch.tensordot(h, x, 1), "scatter_add(half, float32)": lambda: h.scatter_add(0, rows, x),
        "index_put(half, float32)": lambda: h.index_put((index,), x), "embedding": lambda: F.embedding(index, w), "1 / half": lambda: 1 / h,
    }
    if device == "cpu":
        print("the CPU's lists are shorter than CUDA's: differences are expected")

    def check(name, want, run):
        def typed():
            with torch.autocast(device, f16):
                y = run()
                return y.dtype if isinstance(y, torch.Tensor) else y

        report.check(name, want, typed)

    for want, calls in (f16, halves), (f32, singles):
        for name, run in calls.items():
            check(name, want, run)
    check("mm(float64, float64)", f64, lambda: d @ d)
    check("mm(float64, half)", "error", lambda: d @ h)
    check("binary_cross_entropy(half)", "error" if device == "cuda" else f32, lambda: F.binary_cross_entropy(h, h))
    check("addmm_ of float32", f32, lambda: x.clone().addmm_(x, w))
    check("mm(out= float32)", f32, lambda: torch.mm(x, w, out=torch.empty_like(x)))
    check("disabled inside: mm(float32, half)", "error", lambda: nested(lambda y: x @ y))
    check("disabled inside: mm(float32, half.float())", f32, lambda: nested(lambda y: x @ y.float()))
    check("gradients of a leaf and of its product", [f32, f16], gradients)
    check("int32 sum, pow", [torch.int64, i32], lambda: [ints.sum().dtype, (ints**2).dtype])
