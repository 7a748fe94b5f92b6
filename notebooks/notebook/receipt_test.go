package notebook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/internal/receipt"
	"halfnote/interp"
	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
	"halfnote/tensor/driver"
)

// goVariable makes the test binary run as halfnote's kernel.
const goVariable = "NOTEBOOKS_TEST_IS_GO"

func serveGo() error {
	session, err := interp.NewSession(interp.Options{Release: "test"})
	if err != nil {
		return err
	}
	driver.SetHost(driver.Host{Poll: session.Poll, Source: session.Source, Tracing: session.Watch})
	return errors.Join(jupyter.Serve(context.Background(), jupyter.Config{ConnectionFile: os.Args[1], Log: os.Stderr, Process: true}, session), session.Close())
}

func startGo(ctx context.Context, o client.Options) (*client.Kernel, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return client.Start(ctx, client.Spec{Argv: []string{self, "{connection_file}"}, Env: map[string]string{goVariable: "1"}, InterruptMode: "message"}, o)
}

// training are the cells whose receipt TestVerify breaks.
var training = []string{
	"weights, err := data.LoadSafetensors(\"weights.safetensors\")",
	"tensor.ManualSeed(1)",
	"x, y := tensor.Randn(32, 8), tensor.Randn(32, 4)",
	"net := nn.NewLinear(8, 4)\ntensor.NoGrad(func() { net.Weight.Assign(weights[\"w\"]) })",
	"rate := 0.125\nopt := optim.NewSGD(nn.Parameters(net), rate)",
	"step := func() *tensor.Tensor {\n\tvar loss *tensor.Tensor\n\tamp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })\n\tloss.Backward()\n\treturn loss\n}",
	"for range 3 {\n\topt.ZeroGrad()\n\tstep()\n\topt.Step()\n}",
	"total := net.Forward(x).Sum(0).Sum(0)\nfmt.Println(total.Item() > -1e9)",
	"chart.Plot(net.Forward(x).Select(1, 0).Float64s())",
}

// TestVerify breaks what a receipt is of, or the receipt, and compares what verify says.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "training.ipynb")
	weights := func(last uint32) {
		head := `{"w":{"dtype":"F32","shape":[4,8],"data_offsets":[0,128]}}`
		b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
		for i := range 32 {
			bits := math.Float32bits(float32(i%7) / 8)
			if i == 13 {
				bits ^= last
			}
			b = binary.LittleEndian.AppendUint32(b, bits)
		}
		if err := os.WriteFile(filepath.Join(dir, "weights.safetensors"), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	weights(0)
	start := code(training...)
	if err := start.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := RunFiles(t.Context(), []string{path}, RunOptions{Output: path, Receipt: true, Start: startGo, Progress: &log}); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	edit := func(cell int, old, new string) func(*Notebook, *receipt.Receipt) {
		return func(nb *Notebook, _ *receipt.Receipt) {
			if !strings.Contains(nb.Cells[cell-1].Source, old) {
				t.Fatalf("cell %d has no %q", cell, old)
			}
			nb.Cells[cell-1].Source = strings.Replace(nb.Cells[cell-1].Source, old, new, 1)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(nb *Notebook, r *receipt.Receipt)
		want   []string // lines of the difference, or the error; none for the same bits
		note   string   // in the report
	}{
		{"nothing", func(*Notebook, *receipt.Receipt) {}, nil, "the same bits as in the receipt: 9 cells"},
		{"a comment", edit(5, "rate", "// the rate\nrate"), []string{"In[5]: the source of the cell differs"}, "no result differs"},
		{"a constant", edit(5, "0.125", "0.25"), []string{
			"In[5]: the source of the cell differs",
			"In[5]: opt.param_groups.0.lr: its element is 0.25 (0x3fd0000000000000); recorded 0.125 (0x3fc0000000000000); no other element differs",
		}, "4 cells after it did not run"},
		{"another seed", edit(2, "Seed(1)", "Seed(2)"), []string{"In[2]: the source of the cell differs", "In[2]: the state of the random numbers differs"}, ""},
		{"the last bit of a weight", func(*Notebook, *receipt.Receipt) { weights(1) }, []string{
			"In[1]: weights[w]: element [1, 5] is 0.75000006 (0x3f400001); recorded 0.75 (0x3f400000); no other element differs",
		}, ""},
		{"a sum in another order", edit(8, "Sum(0).Sum(0)", "Sum(1).Sum(0)"), []string{
			"In[8]: the source of the cell differs",
			"In[8]: operation 2 of 3, sum (In[8], line 1), is the first whose result differs",
			"In[8]: total: its element is -0.34913445 (0xbeb2c1c0); recorded -0.34913635 (0xbeb2c200); no other element differs",
		}, ""},
		{"another list of dtypes", edit(6, "amp.BFloat16", "amp.BFloat16.With(\"linear\", amp.FP32)"), []string{
			"In[6]: the source of the cell differs",
			"In[7]: operation 1 of 27, linear (In[6], line 3), is the first whose result differs",
			"In[7]: net.bias: all 4 elements differ",
			"In[7]: net.weight: the first difference is from element [0, 0] to [0, 1]; 16 of its 16 parts differ",
		}, ""},
		{"a dropped step", edit(7, "range 3", "range 2"), []string{
			"In[7]: the source of the cell differs",
			"In[7]: 32 operations ran; recorded 48",
			"In[7]: net.bias: all 4 elements differ",
			"In[7]: net.weight: the first difference is from element [0, 0] to [0, 1]; 16 of its 16 parts differ",
		}, ""},
		{"a hash of another version", func(_ *Notebook, r *receipt.Receipt) {
			r.Release = "0.0.1"
			c := &r.Cells[7].State
			c.Trail = r.Cells[6].State.Trail
			chain := r.Cells[6].Chain
			for i := 7; i < len(r.Cells); i++ {
				r.Cells[i].Chain = r.Cells[i].Chained(chain)
				chain = r.Cells[i].Chain
			}
		}, []string{"In[8]: operation 1 of 3, linear (In[8], line 1), is the first whose result differs"}, "the receipt is of halfnote 0.0.1, and this is test"},
		{"a cell that runs twice", func(nb *Notebook, _ *receipt.Receipt) {
			again := *nb.Cells[6]
			again.ID = "again"
			nb.Cells = slices.Insert(nb.Cells, 7, &again)
		}, []string{
			"In[8]: the cell is not in the receipt; it runs the source of In[7] again",
			"In[9]: operation 1 of 3, linear (In[9], line 1), is the first whose result differs",
			"In[9]: total: its element is -2.49759 (0xc01fd884); recorded -0.34913635 (0xbeb2c200); no other element differs",
		}, ""},
		{"a receipt of another form", func(_ *Notebook, r *receipt.Receipt) { r.Version = 2 }, []string{"notebook: the receipt: its form has version 2, and this halfnote reads version 1: make it again with halfnote run --receipt"}, ""},
		{"a receipt that is edited", func(_ *Notebook, r *receipt.Receipt) { r.Cells[2].State.Random = "0" }, []string{"notebook: the receipt has been changed: its hashes of cell 3 do not fit the chain"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			weights(0)
			nb, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := nb.receipt()
			if err != nil || r == nil {
				t.Fatalf("got no receipt: %v", err)
			}
			tt.change(nb, r)
			broken := filepath.Join(dir, "broken.ipynb")
			if err := errors.Join(nb.setReceipt(r), nb.WriteFile(broken)); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			err = RunFiles(t.Context(), []string{broken}, RunOptions{Verify: true, Start: startGo, Progress: &log})
			var lines []string
			if d := (*Difference)(nil); errors.As(err, &d) {
				lines = d.Lines
			} else if err != nil {
				lines = []string{strings.TrimPrefix(err.Error(), broken+": ")}
			}
			if !slices.Equal(lines, tt.want) || !strings.Contains(log.String(), tt.note) {
				t.Errorf("got\n%s\nwant\n%s\nlog:\n%s", strings.Join(lines, "\n"), strings.Join(tt.want, "\n"), &log)
			}
		})
	}
	if err := RunFiles(t.Context(), []string{path}, RunOptions{Output: path, Start: startGo}); err != nil {
		t.Fatal(err)
	}
	nb, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := nb.receipt(); r != nil || err != nil {
		t.Errorf("after a run without a receipt: got one of %d cells, %v", len(r.Cells), err)
	}
	err = RunFiles(t.Context(), []string{path}, RunOptions{Verify: true, Start: startGo})
	if err == nil || !strings.Contains(err.Error(), "it has no receipt; halfnote run --receipt makes one") {
		t.Errorf("without a receipt: got %v", err)
	}
}

// TestReceiptInSession runs notebooks whose last cell compares what ran with the receipt of a notebook.
func TestReceiptInSession(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "book.ipynb"), filepath.Join(dir, "other.ipynb")
	cells := []string{
		"tensor.ManualSeed(1)", "x := tensor.Randn(2)", "fmt.Println(\"a\\rb\")\nx", "panic(\"no\")",
		"chart.Plot([]float64{1, 2})", "for range 2 {\n\tfmt.Println(1)\n\tfmt.Fprintln(os.Stderr, 2)\n}", "%receipt book.ipynb",
	}
	run := func(o RunOptions, cells ...string) string {
		t.Helper()
		file := cmp.Or(o.Output, other)
		if err := code(cells...).WriteFile(file); err != nil {
			t.Fatal(err)
		}
		o.Output, o.Start, o.AllowErrors = file, startGo, true
		if o.Receipt { // twice: the first run writes the receipt that the second compares with
			if err := RunFiles(t.Context(), []string{file}, o); err != nil {
				t.Fatal(err)
			}
		}
		if err := RunFiles(t.Context(), []string{file}, o); err != nil {
			t.Fatal(err)
		}
		nb, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		last := nb.CodeCells()[len(cells)-1]
		if len(last.Outputs) != 1 {
			t.Fatalf("the last cell has %d outputs", len(last.Outputs))
		}
		text, _ := last.Outputs[0].Data["text/plain"].(string)
		return text
	}
	if got := run(RunOptions{}, cells...); !strings.HasPrefix(got, "cannot compare: ") {
		t.Errorf("without a file: got %q", got)
	}
	if got, want := run(RunOptions{Output: path, Receipt: true}, cells...), "Your numbers are the book's: all 7 cells ran, and 9 outputs and 1 tensor agree to the last bit."; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := RunFiles(t.Context(), []string{path}, RunOptions{Verify: true, Start: startGo, AllowErrors: true}); err != nil {
		t.Error(err)
	}
	change := func(at int, source string) []string {
		list := slices.Clone(cells)
		list[at] = source
		return list
	}
	for _, tt := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"another seed", change(0, "tensor.ManualSeed(2)"), "Your numbers part from the book's.\n  In[3] fmt.Println(\"a\\rb\") …: output 2, line 1: \"tensor(["},
		{"another tensor", change(2, "fmt.Println(\"a\\rb\")\nx.Set(0, 1)\nx"), "In[2] x := tensor.Randn(2): x: element [1] is 0 (0x00000000); in the book "},
		{"a cell of mine", change(4, "chart.Plot([]float64{2, 2})"), "Your numbers are the book's in the 6 cells of 7 that ran as they stand there: 8 outputs and 1 tensor agree to the last bit.\n1 cell is yours:\n  In[5] chart.Plot([]float64{2, 2})"},
		{"a cell twice", slices.Insert(slices.Clone(cells), 2, "x := tensor.Randn(2)"), "In[3] x := tensor.Randn(2) ran 2 times."},
	} {
		if got := run(RunOptions{}, tt.cells...); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
