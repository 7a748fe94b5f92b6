package install

import (
	"context"
	_ "embed"
	"io"
)

// The requirements pin the peers of halfnote bench, as those of JupyterLab do. A comment in bench-constraints.txt says where the
// versions come from.
var (
	//go:embed zbench.txt
	benchRequirements string
	//go:embed zbench-torch.txt
	torchRequirements string
)

// PeerPython returns the Python of a private environment in cacheDir with numpy and ipykernel, or with
// numpy and PyTorch; an empty cacheDir is the user's cache folder. If the environment does not
// exist PeerPython makes it, which needs a network and, for PyTorch, several gigabytes. A failure
// leaves no files behind.
func PeerPython(ctx context.Context, pytorch bool, cacheDir string, progress io.Writer) (string, error) {
	r := recipe{
		name: "bench", what: "the peers", packages: []string{"numpy", "ipykernel", "ipywidgets"}, requirements: benchRequirements,
		cost: "a few seconds and 150 MB", instead: "`--peer none` measures without peers, `--python FILE` uses a Python that has them",
	}
	if pytorch { // a separate environment, because the other peers are ready sooner
		r.name, r.what, r.packages, r.requirements = "bench-torch", "PyTorch", []string{"numpy", "torch"}, torchRequirements
		r.cost = "a few minutes, and on Linux 6 GB, because PyTorch includes the libraries for GPUs"
	}
	env, err := r.in(cacheDir)
	if err != nil {
		return "", err
	}
	return env.python(), env.prepare(ctx, progress)
}
