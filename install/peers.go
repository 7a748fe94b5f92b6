package install

import (
	"context"
	_ "embed"
	"io"
)

// The constraints pin what halfnote bench measures us against: the file says how it is made.
//
//go:embed bench-constraints.txt
var benchConstraints string

// Peers returns the Python of a private environment with numpy and ipykernel, or with numpy and
// PyTorch, which it makes if it is not there, in cacheDir; "" is the user's cache folder. The first
// time it takes a network, and for PyTorch some gigabytes, and tells progress. Nothing is left
// there when that fails.
func Peers(ctx context.Context, pytorch bool, cacheDir string, progress io.Writer) (string, error) {
	r := recipe{
		name: "bench", what: "the peers", packages: []string{"numpy", "ipykernel", "ipywidgets"}, constraints: benchConstraints + labConstraints,
		cost: "some seconds and 150 MB", instead: "`--peer none` measures without peers, `--python FILE` takes a Python that has them",
	}
	if pytorch { // which is in a folder of its own, so that those who want the others need not wait for it
		r.name, r.what, r.packages = "bench-torch", "PyTorch", []string{"numpy", "torch"}
		r.cost = "some minutes, and on Linux 6 GB, because PyTorch brings what GPUs need"
	}
	env, err := r.in(cacheDir)
	if err != nil {
		return "", err
	}
	return env.python(), env.prepare(ctx, progress)
}
