package notebook

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfnote/kernel/client"
)

// TestSameAsNbclient runs a notebook of Python cells with nbclient and with this package.
// The results must be equal. Each cell prints all its text at once, because nbclient also
// joins text that is not adjacent.
func TestSameAsNbclient(t *testing.T) {
	python := needPython(t, "nbclient", "ipykernel", "nbformat")
	dir := t.TempDir()
	nb := code(
		"x = 1\nprint('a')\nprint('b')\nx + 1",
		"import sys\nfrom IPython.display import display, update_display, clear_output, HTML\nh = display('old', display_id='i')",
		"update_display('new', display_id='i')\nfor i in range(3):\n    clear_output(wait=True)\n    print(i)",
		"display(HTML('<b>&é</b>'))\n'end'",
		"print('10%\\r20%\\rdone')",
		"1/0",
		"never",
	)
	nb.Cells[5].Metadata = map[string]any{"tags": []any{"raises-exception"}}
	nb.Cells[6].Metadata = map[string]any{"tags": []any{"skip-execution"}}
	nb.Metadata = map[string]any{"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"}}
	in := writeNotebook(t, dir, "in.ipynb", nb)
	theirs, ours := filepath.Join(dir, "theirs.ipynb"), filepath.Join(dir, "ours.ipynb")

	const script = `
import sys, nbclient, nbformat
nb = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(nb, record_timing=False, coalesce_streams=True).execute()
nbformat.write(nb, sys.argv[2])
`
	if out, err := exec.Command(python, "-c", script, in, theirs).CombinedOutput(); err != nil {
		t.Fatalf("nbclient: %v\n%s", err, out)
	}
	err := RunFiles(t.Context(), []string{in}, RunOptions{Output: ours, Start: func(ctx context.Context, o client.Options) (*client.Kernel, error) {
		spec := client.Spec{Argv: []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}, InterruptMode: "signal"}
		return client.Start(ctx, spec, o)
	}})
	if err != nil {
		t.Fatal(err)
	}
	validate(t, python, ours)
	got, want := read(t, ours), read(t, theirs)
	for i := range want.Cells {
		g, w := plainJSON(t, got.Cells[i].toJSON()), plainJSON(t, want.Cells[i].toJSON())
		if !reflect.DeepEqual(g, w) {
			t.Errorf("cell %d: got %v\nwant %v", i+1, g, w)
		}
	}
	if g, w := plainJSON(t, got.Metadata), plainJSON(t, want.Metadata); !reflect.DeepEqual(g, w) {
		t.Errorf("metadata: got %v\nwant %v", g, w)
	}
}

// plainJSON returns v encoded and decoded as JSON, so that two values can be compared.
func plainJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestPythonRejectsWhatWeReject(t *testing.T) {
	python := needPython(t, "nbformat")
	for _, in := range []string{
		`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"id":"a","cell_type":"heading","metadata":{},"source":""}]}`,
		`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"id":"a","cell_type":"code","metadata":{},"source":1,"outputs":[],"execution_count":null}]}`,
	} {
		cmd := exec.Command(python, "-c", "import sys, nbformat; nbformat.validate(nbformat.reads(sys.stdin.read(), as_version=4))")
		cmd.Stdin = strings.NewReader(in)
		if cmd.Run() == nil {
			t.Errorf("nbformat accepts %s", in)
		}
		if _, err := Read(strings.NewReader(in)); err == nil {
			t.Errorf("Read accepts %s", in)
		}
	}
}
