"""Runs a Python notebook with %%go cells and checks what each of them shows."""
import asyncio
import sys

import nbformat
from nbclient import NotebookClient

TRAIN = """%%go -i X,y,steps -i cfg -o losses -o dtype,W
net := nn.NewLinear(3, 1)
opt := optim.NewSGD(nn.Parameters(net), 0.1)
var losses []float64
for range steps {
	opt.ZeroGrad()
	var loss *tensor.Tensor
	amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(X), y) })
	loss.Backward()
	opt.Step()
	losses = append(losses, loss.Item())
}
fmt.Println(cfg["name"], len(losses))
dtype := X.DType().String()
W := net.Weight"""

# Each row is a cell, and the text that its outputs hold together.
CELLS = [
    ("%load_ext halfnote\nimport numpy as np\nrng = np.random.default_rng(0)\nX = rng.normal(size=(64, 3)).astype(np.float32)\n"
     "y = (X @ np.array([1, -2, .5], dtype=np.float32))[:, None]\nsteps, cfg = 40, {'lr': 0.1, 'name': 'sgd'}", ""),
    (TRAIN, "sgd 40"),
    ("print(len(losses), losses[-1] < losses[0], dtype, W.shape, W.dtype)", "40 True float32 (1, 3) float32"),
    ("a, b, c, d, e = None, [1, 2.5], float('inf'), 'a\"\\n\u00e9', [[1], [2, 3]]\nn = np.int64(7); empty = np.zeros((0, 2))", ""),
    ("%%go -i a,b,c,d,e,n,empty\nfmt.Println(a, b, c, d, e, n, empty.Shape())", "<nil> [1 2.5] +Inf a\"\n\u00e9 [[1] [2 3]] 7 [0 2]"),
    ("%%go -o z,flag\nz := map[string][]int{\"k\": {1, 2}}\nflag := z != nil", ""),
    ("print(z, flag)", "{'k': [1, 2]} True"),
    ("%%go\nx := 1 +", "the statement is not complete"),
    ("%%go\n[]int{1, 2}[len(losses)]", "len(losses) is 40"),
    ("%%go\ndisplay.HTML(\"<b>bold</b>\")", "<b>bold</b>"),
    ("%%go\nfor i := range 3 {\n\tdisplay.Clear(true)\n\tfmt.Println(i)\n}", "2"),
    ("%%go\nfmt.Fprintln(os.Stderr, \"to stderr\")", "to stderr"),
    ("%%go -i nothing\n1", "%%go -i nothing: name 'nothing' is not defined in Python"),
    ("import sys\n", ""),
    ("%%go -i sys\n1", "%%go -i sys: a value of type module has no Go literal"),
    ("%%go -o missing\n1", "%%go -o missing: undefined: missing"),
    ("%%go\nprintln(\"begun\")\nselect {}", "Interrupted"),
    ("%%go\nlen(losses)", "40"),
    ("%go_restart", ""),
    ("%%go\nlen(losses)", "undefined: losses"),
]


def shown(cell):
    """Returns the outputs of a cell as text."""
    parts = []
    for o in cell.outputs:
        if o.output_type == "stream":
            parts.append(o.text)
        elif o.output_type == "error":
            parts.append(f"{o.ename} {o.evalue} " + "\n".join(o.traceback))
        else:
            parts.append(str(o.data.get("text/html", o.data["text/plain"])))
    return "\n".join(parts)


async def main():
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code, _ in CELLS])
    client = NotebookClient(nb, allow_errors=True, kernel_name="python3", timeout=120)
    failed = 0

    async def interrupt(cell):
        while "begun" not in shown(cell):
            await asyncio.sleep(0.05)
        await client.km.interrupt_kernel()

    async with client.async_setup_kernel():
        for i, (cell, (code, want)) in enumerate(zip(nb.cells, CELLS)):
            stop = asyncio.ensure_future(interrupt(cell)) if "begun" in code else None
            await client.async_execute_cell(cell, i)
            if stop:
                await stop
            got = shown(cell)
            if want not in got or not want and got:
                failed += 1
                print(f"{code}\ngot: {got!r}\nwant: {want!r}\n")
    sys.exit(failed)


asyncio.run(main())
