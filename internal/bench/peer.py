"""The peers' side of the protocol: python peer.py LIBRARY THREADS DEVICE. It reads requests and
prints replies, each a line of JSON; protocol.go documents their fields."""
import json, os, sys, time

library, threads, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def openblas():
    """Matrix products of numpy, which uses OpenBLAS."""
    import ctypes, glob
    import numpy as np

    core, config = "", "numpy " + np.__version__
    for path in glob.glob(os.path.join(os.path.dirname(np.__file__), os.pardir, "numpy.libs", "*openblas*")):
        lib = ctypes.CDLL(path)
        for prefix, suffix in (("scipy_openblas_", "64_"), ("openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", "")):
            if hasattr(lib, prefix + "get_corename" + suffix):
                f, g = getattr(lib, prefix + "get_corename" + suffix), getattr(lib, prefix + "get_config" + suffix)
                f.restype = g.restype = ctypes.c_char_p
                core, config = f().decode(), " ".join(g().decode().split()[:2]) + ", " + config
    if not core:
        raise RuntimeError("numpy %s brings no OpenBLAS; want numpy as pip installs it" % np.__version__)

    def prepare(spec):
        if spec["work"] != "gemm" or spec["dtype"] != "float32":
            raise NotImplementedError("no %s in %s" % (spec["work"], spec["dtype"]))
        *batch, m, n, k = spec["shape"]
        rng = np.random.default_rng(1)

        def operand(rows, columns, transposed):
            if transposed:
                return np.swapaxes(rng.standard_normal((*batch, columns, rows), dtype=np.float32), -1, -2)
            return rng.standard_normal((*batch, rows, columns), dtype=np.float32)

        x, y = operand(m, k, spec["op"][0] == "T"), operand(k, n, spec["op"][1] == "T")
        out = np.empty((*batch, m, n), np.float32)
        return lambda: np.matmul(x, y, out=out)

    return {"about": config, "core": core}, prepare, None


def pytorch():
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.set_default_device(device)
    gpu = device != "cpu"
    if gpu:
        torch.empty(1)  # fails at once if the device is missing

    def draw(net):
        torch.manual_seed(1)
        with torch.no_grad():
            for name, p in sorted(net.named_parameters()):
                if p.dim() > 1:
                    p.copy_(torch.randn(p.shape, device="cpu") * (1 / (p.numel() // p.shape[0]) ** 0.5))
                elif name.endswith("bias"):
                    p.zero_()

    def training(dtype, opt, loss):
        scaler = torch.amp.GradScaler(device, enabled=dtype == torch.float16)

        def step():
            opt.zero_grad()
            with torch.autocast(device, dtype=torch.bfloat16 if dtype == torch.float32 else dtype, enabled=dtype != torch.float32):
                l = loss()
            scaler.scale(l).backward()
            scaler.step(opt)
            scaler.update()
            return l.detach()

        return step

    def drawn(*shape):
        """Normal random numbers from the CPU's generator, the same as halfnote's."""
        return torch.randn(*shape, device="cpu").to(device)

    def labelled(high, shape):
        return torch.randint(0, high, shape, device="cpu").to(device)

    def mlp(dtype, batch, width, layers):
        parts = []
        for i in range(layers):
            parts += [nn.ReLU()] * (i > 0) + [nn.Linear(width, width)]
        net = nn.Sequential(*parts)
        draw(net)
        x, y = drawn(batch, width), drawn(batch, width)
        return training(dtype, torch.optim.SGD(net.parameters(), 0.1), lambda: F.mse_loss(net(x), y))

    class Block(nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
            self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
            self.downsample = None
            if stride != 1 or channels != out:
                self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + (x if self.downsample is None else self.downsample(x)))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
            for i, (channels, out) in enumerate([(64, 64), (64, 128), (128, 256), (256, 512)]):
                setattr(self, "layer%d" % (i + 1), nn.Sequential(Block(channels, out, 1 + (i > 0)), Block(out, out, 1)))
            self.fc = nn.Linear(512, 10)

        def forward(self, x):
            x = F.relu(self.bn1(self.conv1(x)))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))

    def resnet(dtype, batch):
        net = ResNet()
        draw(net)
        x, labels = drawn(batch, 3, 32, 32), labelled(10, (batch,))
        return training(dtype, torch.optim.SGD(net.parameters(), 0.01, momentum=0.9), lambda: F.cross_entropy(net(x), labels))

    class Output(nn.Module):
        def __init__(self, n, hidden):
            super().__init__()
            self.dense, self.LayerNorm = nn.Linear(n, hidden), nn.LayerNorm(hidden, eps=1e-12)

        def forward(self, x, skip):
            return self.LayerNorm(F.dropout(self.dense(x), 0.1, self.training) + skip)

    class Layer(nn.Module):
        def __init__(self, hidden, heads, inside):
            super().__init__()
            self.heads, self.attention, self.intermediate = heads, nn.Module(), nn.Module()
            own = self.attention.self = nn.Module()
            own.query, own.key, own.value = (nn.Linear(hidden, hidden) for _ in range(3))
            self.attention.output = Output(hidden, hidden)
            self.intermediate.dense = nn.Linear(hidden, inside)
            self.output = Output(inside, hidden)

        def forward(self, x):
            n, t, h = x.shape
            own = self.attention.self
            q, k, v = (f(x).view(n, t, self.heads, -1).transpose(1, 2) for f in (own.query, own.key, own.value))
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1 if self.training else 0.0)
            x = self.attention.output(y.transpose(1, 2).reshape(n, t, h), x)
            return self.output(F.gelu(self.intermediate.dense(x)), x)

    class BERT(nn.Module):
        def __init__(self, vocabulary, hidden, layers, heads, inside):
            super().__init__()
            b = self.bert = nn.Module()
            e = b.embeddings = nn.Module()
            e.word_embeddings, e.position_embeddings = nn.Embedding(vocabulary, hidden, padding_idx=0), nn.Embedding(512, hidden)
            e.token_type_embeddings, e.LayerNorm = nn.Embedding(2, hidden), nn.LayerNorm(hidden, eps=1e-12)
            b.encoder, b.pooler = nn.Module(), nn.Module()
            b.encoder.layer = nn.ModuleList(Layer(hidden, heads, inside) for _ in range(layers))
            b.pooler.dense = nn.Linear(hidden, hidden)
            self.classifier = nn.Linear(hidden, 2)

        def forward(self, ids):
            b, e = self.bert, self.bert.embeddings
            x = e.word_embeddings(ids) + e.token_type_embeddings(torch.zeros_like(ids)) + e.position_embeddings.weight[: ids.shape[1]]
            x = F.dropout(e.LayerNorm(x), 0.1, self.training)
            for layer in b.encoder.layer:
                x = layer(x)
            return self.classifier(F.dropout(torch.tanh(b.pooler.dense(x[:, 0])), 0.1, self.training))

    def bert(dtype, batch, length, hidden, layers):
        net = BERT(30522, hidden, layers, hidden // 64, 4 * hidden)
        draw(net)
        ids, labels = labelled(30522, (batch, length)), labelled(2, (batch,))
        return training(dtype, torch.optim.AdamW(net.parameters(), 1e-4, fused=True), lambda: F.cross_entropy(net(ids), labels))

    def gemm(spec, dtype):
        *batch, m, n, k = spec["shape"]

        def operand(rows, columns, transposed):
            if transposed:
                return torch.randn(*batch, columns, rows).to(dtype).transpose(-1, -2)
            return torch.randn(*batch, rows, columns).to(dtype)

        x, y = operand(m, k, spec["op"][0] == "T"), operand(k, n, spec["op"][1] == "T")
        return lambda: torch.matmul(x, y)

    def tape(how):
        x, w, b = torch.randn(16), torch.randn(16), torch.randn(16)
        if how != "plain":
            w.requires_grad_(), b.requires_grad_()
        ones = torch.ones(16)

        def run():
            y = x
            for _ in range(10):
                y = torch.relu(y * w + b)
            if how == "backward":
                y.backward(ones)
                w.grad = b.grad = None

        return run

    def with_like(f):
        def make(x):
            y = torch.randn(x.shape).to(x.dtype)
            return lambda x: f(x, y)
        return make

    def of_positive(f):
        def make(x):
            size = x.abs()
            return lambda x: f(size)
        return make

    def convolved(kernel, stride):
        def make(x):
            w = torch.randn(x.shape[1], x.shape[1], kernel, kernel).to(x.dtype).requires_grad_()
            return lambda x: F.conv2d(x, w, stride=stride, padding=kernel // 2)
        return make

    def normalized(x):
        n = x.shape[-1]
        w, b = torch.ones(n, dtype=x.dtype, requires_grad=True), torch.zeros(n, dtype=x.dtype, requires_grad=True)
        return lambda x: F.layer_norm(x, (n,), w, b)

    def batch_normalized(x):
        c = x.shape[1]
        mean, var = torch.zeros(c), torch.ones(c)
        w, b = torch.ones(c, requires_grad=True), torch.zeros(c, requires_grad=True)
        return lambda x: F.batch_norm(x, mean, var, w, b, training=True)

    def embedded(x):
        ids = torch.randint(0, x.shape[0], (16, 128))
        return lambda x: F.embedding(ids, x)

    def crossed(x):
        labels = torch.randint(0, x.shape[1], (x.shape[0],))
        return lambda x: F.cross_entropy(x, labels)

    def added_row(x):
        row = torch.randn(x.shape[-1]).to(x.dtype)
        return lambda x: x + row

    operations = {
        "add": with_like(torch.add), "add_": with_like(lambda x, y: x.add_(y)), "relu_": lambda x: torch.relu_,
        "mul": with_like(torch.mul), "mse_loss": with_like(F.mse_loss),
        "attention": lambda x: lambda x: F.scaled_dot_product_attention(x, x, x),
        "bfloat16": lambda x: torch.Tensor.bfloat16, "float16": lambda x: torch.Tensor.half, "float32": lambda x: torch.Tensor.float,
        "checked float16": lambda x: torch.Tensor.half,  # without a check for overflow
        "conv1x1": convolved(1, 1), "conv3x3": convolved(3, 1), "conv3x3/2": convolved(3, 2),
        "dropout": lambda x: lambda x: F.dropout(x, 0.1, True), "gelu": lambda x: F.gelu,
        "erf": lambda x: torch.erf, "exp": lambda x: torch.exp, "expm1": lambda x: torch.expm1, "gelu tanh": lambda x: lambda x: F.gelu(x, approximate="tanh"),
        "log": of_positive(torch.log), "log1p": of_positive(torch.log1p), "log_softmax": lambda x: lambda x: torch.log_softmax(x, -1),
        "rsqrt": of_positive(torch.rsqrt), "silu": lambda x: F.silu, "sin": lambda x: torch.sin,
        "max_pool2d": lambda x: lambda x: F.max_pool2d(x, 2), "relu": lambda x: torch.relu, "sigmoid": lambda x: torch.sigmoid,
        "softmax": lambda x: lambda x: torch.softmax(x, -1), "sum": lambda x: torch.sum,
        "sum of columns": lambda x: lambda x: x.sum(0), "sum of rows": lambda x: lambda x: x.sum(1), "tanh": lambda x: torch.tanh,
        "transpose": lambda x: lambda x: x.transpose(-1, -2).contiguous(), "add of a row": added_row,
        "batch_norm": batch_normalized, "cross_entropy": crossed, "embedding": embedded, "layer_norm": normalized,
    }
    optimizers = {
        "sgd": lambda p: torch.optim.SGD(p, 1e-3), "momentum": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9),
        "adamw": lambda p: torch.optim.AdamW(p, 1e-3, fused=True),
    }

    def operation(spec, dtype):
        torch.manual_seed(1)
        op = spec["op"]
        if op in optimizers:
            p = torch.randn(spec["shape"]).requires_grad_()
            p.grad = torch.randn(spec["shape"])
            return optimizers[op]([p]).step
        x = torch.randn(spec["shape"]).to(dtype)
        if op == "unscale":
            found, factor = torch.zeros(1), torch.full((1,), 0.999999)
            return lambda: torch._amp_foreach_non_finite_check_and_unscale_([x], found, factor)
        f = operations[op](x)
        if not spec.get("grad"):
            def plain():
                with torch.no_grad():
                    f(x)
            return plain
        x.requires_grad_()
        ones = torch.ones_like(f(x))

        def both():
            f(x).backward(ones)
            x.grad = None

        return both

    def allowing(on, work):
        """Enables or disables TF32 for float32 products and convolutions."""
        def run():
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on
            return work()
        return run

    def precise(precision, work):
        """Sets the precision of float32 products."""
        def run():
            torch.set_float32_matmul_precision(precision)
            try:
                return work()
            finally:
                torch.set_float32_matmul_precision("highest")
        return run

    def format(spec):
        """Quantising or de-quantising by torchao."""
        try:
            import torchao
        except ImportError:
            raise NotImplementedError("no torchao") from None
        from torchao.float8.config import ScalingGranularity
        from torchao.float8.float8_utils import tensor_to_scale, to_fp8_saturated
        from torchao.prototype.mx_formats.config import ScaleCalculationMode
        from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
        from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale
        from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, dequantize_affine, quantize_affine

        def mx(element, mode):
            return lambda x: to_mx(x, element, 32, ScaleCalculationMode(mode)), lambda q: to_dtype(q[1], q[0], element, 32, torch.float32)

        def float8(granularity, dim):
            def quantise(x):
                s = tensor_to_scale(x, torch.float8_e4m3fn, scaling_granularity=granularity, axiswise_dim=dim)
                return to_fp8_saturated(x * s, torch.float8_e4m3fn), s
            return quantise, lambda q: q[0].float() / q[1]

        def integers(mapping, block, low, high):
            def quantise(x):
                size = (1, block or x.shape[1])
                s, z = choose_qparams_affine(x, mapping, size, torch.int8, low, high)
                return quantize_affine(x, size, s, z, torch.int8, low, high), s, z
            return quantise, lambda q: dequantize_affine(q[0], (1, block or q[0].shape[1]), q[1], q[2], torch.int8, low, high)

        both = {
            "mxfp8": mx(torch.float8_e4m3fn, "rceil"), "mxfp6": mx("fp6_e2m3", "floor"), "mxfp4": mx(torch.float4_e2m1fn_x2, "floor"),
            "nvfp4": (lambda x: NVFP4Tensor.to_nvfp4(x, per_tensor_scale=per_tensor_amax_to_scale(x.abs().max())), lambda q: q.dequantize(torch.float32)),
            "float8 tensor": float8(ScalingGranularity.TENSORWISE, None), "float8 row": float8(ScalingGranularity.AXISWISE, -1),
            "int8": integers(MappingType.ASYMMETRIC, 0, -128, 127), "int4": integers(MappingType.SYMMETRIC, 32, -8, 7),
        }
        what, name = spec["op"].split(" ", 1)
        if name not in both:
            raise NotImplementedError("no %s" % name)
        torch.manual_seed(1)
        x = torch.randn(spec["shape"])
        quantise, back = both[name]
        if what == "quantise":
            return lambda: quantise(x)
        q = quantise(x)
        return lambda: back(q)

    def prepare(spec):
        if spec["dtype"] == "high float32":
            return precise("high", prepare({**spec, "dtype": "float32"}))
        if not gpu:
            return prepared(spec)
        tf32 = spec["dtype"] == "tf32"
        work = allowing(tf32, prepared({**spec, "dtype": "float32" if tf32 else spec["dtype"]}))
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        return work

    def prepared(spec):
        work, dtype = spec["work"], getattr(torch, spec["dtype"])
        if work in ("mlp", "resnet", "bert"):
            return {"mlp": mlp, "resnet": resnet, "bert": bert}[work](dtype, *spec["shape"])
        if work == "tape":
            return tape(spec["op"])
        if work == "format":
            return format(spec)
        return {"gemm": gemm, "op": operation}[work](spec, dtype)

    about = "PyTorch %s, %s" % (torch.__version__, torch.cuda.get_device_name() if gpu else torch.backends.cpu.get_cpu_capability())
    return {"about": about}, prepare, torch.cuda if gpu else None


about, prepare, cuda = {"openblas": openblas, "torch": pytorch}[library]()
jobs = {}


def repeat(job, n):
    """Runs a job n times and returns the losses of a training."""
    trains, f = job
    if trains:
        return [loss.item() for loss in [f() for _ in range(n)]]
    for _ in range(n):
        f()  # the result is dropped
    return None


def answer(q):
    do, key = q["do"], q.get("key", "")
    if do == "about":
        return about
    if do == "prepare":
        jobs[key] = q["spec"]["work"] in ("mlp", "resnet", "bert"), prepare(q["spec"])
        return {}
    if do == "forget":
        jobs.pop(key, None)
        return {}
    if do != "run":
        raise ValueError("unknown request %r; want about, prepare, run or forget" % do)
    job, n = jobs[key], q["n"]
    if not q.get("cold"):
        repeat(job, n)
    if cuda:
        cuda.synchronize()
    start, cpu = time.perf_counter_ns(), time.process_time_ns()
    losses = repeat(job, n)
    if cuda:
        cuda.synchronize()
    reply = {"ns": time.perf_counter_ns() - start, "cpu": time.process_time_ns() - cpu}
    if losses:
        reply["losses"] = losses
    if cuda:
        reply["peak"] = cuda.max_memory_allocated()
    return reply


for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as e:
        reply = {"error": "%s: %s" % (type(e).__name__, e)}
    print(json.dumps(reply), flush=True)
