package install

import (
	"context"
	_ "embed"
	"io"
)

// The constraints pin the peers of halfnote bench. The file says how it was made.
//
//go:embed bench-constraints.txt
var benchConstraints string

// PeerPython returns the Python of a private environment in cacheDir with numpy and ipykernel, or with
// numpy and PyTorch; an empty cacheDir is the user's cache folder. If the environment does not
// exist Peers makes it, which needs a network and, for PyTorch, several gigabytes. A failure
// leaves nothing behind.
func PeerPython(ctx context.Context, pytorch bool, cacheDir string, progress io.Writer) (string, error) {
	r := recipe{
		name: "bench", what: "the peers", packages: []string{"numpy", "ipykernel", "ipywidgets"}, constraints: benchConstraints + labConstraints,
		cost: "some seconds and 150 MB", instead: "`--peer none` measures without peers, `--python FILE` takes a Python that has them",
	}
	if pytorch { // in a folder of its own: the other peers are ready sooner
		r.name, r.what, r.packages = "bench-torch", "PyTorch", []string{"numpy", "torch"}
		r.cost = "some minutes, and on Linux 6 GB, because PyTorch brings what GPUs need"
	}
	env, err := r.in(cacheDir)
	if err != nil {
		return "", err
	}
	return env.python(), env.prepare(ctx, progress)
}
