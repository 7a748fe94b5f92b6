package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
	"halfnote/notebooks/notebook"
)

// inGroup begins notebooks whose ranks call collectives.
const inGroup = "import \"os\"\nimport \"halfnote/dist\"\nif err := dist.InitProcessGroup(dist.Timeout(time.Second)); err != nil {\n\tpanic(err)\n}\nx := tensor.Full(float64(dist.Rank()+1), 4)"

// die ends the process of a rank as the kernel of the system does that lacks memory.
const die = "func die() {\n\tp, _ := os.FindProcess(os.Getpid())\n\tp.Kill()\n\tselect {}\n}"

// onRanks runs cells with `halfnote run --ranks 2`, as the last arguments of the command within. It returns the text of each cell's outputs, and what the command printed.
func onRanks(t *testing.T, within, flags []string, cells ...string) (outputs []string, printed string) {
	t.Helper()
	need(t, "mpi", "mpiexec", "mpirun")
	in, out := filepath.Join(t.TempDir(), "in.ipynb"), filepath.Join(t.TempDir(), "out.ipynb")
	nb := &notebook.Notebook{}
	for i, c := range cells {
		nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Code, ID: fmt.Sprint("cell", i), Source: c})
	}
	if err := nb.WriteFile(in); err != nil {
		t.Fatal(err)
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	argv := slices.Concat(within, []string{exe, "run", in, "--ranks", "2", "--output", out}, flags)
	log, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("%v\n%s", err, log)
	}
	done, err := notebook.ReadFile(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	for _, c := range done.Cells {
		var text strings.Builder
		for _, o := range c.Outputs {
			text.WriteString(o.Text)
			if plain, ok := o.Data["text/plain"].(string); ok {
				text.WriteString("= " + plain + "\n")
			}
			text.WriteString(strings.Join(o.Traceback, "\n"))
		}
		outputs = append(outputs, colours.ReplaceAllString(text.String(), ""))
	}
	return outputs, string(log)
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestRanks runs cells on two ranks, and goes on after a rank has left a collective that the other had joined.
func TestRanks(t *testing.T) {
	t.Parallel()
	got, log := onRanks(t, nil, []string{"--allow-errors"}, inGroup,
		"fmt.Println(\"rank\", dist.Rank(), \"of\", dist.WorldSize())",
		"dist.AllReduce(x, dist.Sum)\nx",
		"if dist.Rank() == 1 {\n\tvar list []int\n\t_ = list[3]\n}\ndist.AllReduce(x, dist.Sum)",
		"dist.AllReduce(x, dist.Sum)\nx",
		"if dist.Rank() == 1 {\n\ttime.Sleep(1500 * time.Millisecond)\n}\ndist.Barrier()",
		"dist.NewDistributedDataParallel(nn.NewLinear(2, 2+dist.Rank()))",
		"%ranks 1",
	)
	for i, want := range [][]string{
		1: {"rank 0 of 2\n[rank 1] rank 1 of 2\n"},
		2: {"= tensor([3., 3., 3., 3.])\n"},
		3: {"On rank 1:\npanic: runtime error: index out of range [3] with length 0\n", "_ = list[3]", "Rank 0:\n", "dist.AllReduce(x, dist.Sum)"},
		4: {"= tensor([6., 6., 6., 6.])\n"},
		5: {"the other ranks did not join", "within 1s", "a rank is slow"},
		6: {"the models differ"},
		7: {"the models differ", "on rank 1"},
	} {
		for _, w := range want {
			if !strings.Contains(got[i], w) {
				t.Errorf("cell %d: got\n%s\nthat lacks %q; the command printed\n%s", i+1, got[i], w, log)
			}
		}
	}
}

// TestRankKilled kills a rank during a reduction. The run ends with an error that names it, whether the
// launcher ends the other rank or not.
func TestRankKilled(t *testing.T) {
	t.Parallel()
	got, log := onRanks(t, nil, nil, inGroup+"\n"+die,
		"for i := 0; ; i++ {\n\tdist.AllReduce(x, dist.Avg)\n\tif i == 50 && dist.Rank() == 1 {\n\t\tdie()\n\t}\n}")
	if all := got[1] + log; !strings.Contains(all, "rank 1 of 2 (process") && !strings.Contains(all, "rank 1 (process") {
		t.Errorf("got\n%s", all)
	}
}

// TestRanksTimeLimit interrupts a cell in which rank 1 waits for rank 0 in a collective.
func TestRanksTimeLimit(t *testing.T) {
	t.Parallel()
	_, log := onRanks(t, nil, []string{"--timeout", "3s"}, strings.Replace(inGroup, "dist.Timeout(time.Second)", "", 1), "if dist.Rank() == 1 {\n\tdist.Barrier()\n}")
	for _, want := range []string{"Timeout: it ran longer than 3s and was interrupted", "On rank 1:", "dist.Barrier()", "Rank 0: ended the cell without an error"} {
		if !strings.Contains(log, want) {
			t.Errorf("got\n%s\nthat lacks %q", log, want)
		}
	}
}

// TestRanksKernelspec installs a kernel of two ranks and interrupts it in a collective, as a front end does.
func TestRanksKernelspec(t *testing.T) {
	t.Parallel()
	need(t, "mpi", "mpiexec", "mpirun")
	prefix := t.TempDir()
	if out, code := halfnote(t, "install", "--ranks", "2", "--prefix", prefix); code != 0 {
		t.Fatal(out)
	}
	spec, err := client.ReadSpec(filepath.Join(prefix, "share", "jupyter", "kernels", "halfnote-2-ranks"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k, err := client.Start(ctx, spec, client.Options{Stderr: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	run := func(code string, printed func()) (failed string) {
		reply, err := k.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
			if m.Header.Type == "stream" && printed != nil {
				printed()
				printed = nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return reply.ErrorName
	}
	if failed := run(strings.Replace(inGroup, "dist.Timeout(time.Second)", "", 1), nil); failed != "" {
		t.Fatal(failed)
	}
	if failed := run("fmt.Println(\"now\")\nif dist.Rank() == 1 {\n\tselect {}\n}\ndist.Barrier()", func() { go k.Interrupt(ctx) }); failed != "Interrupted" {
		t.Errorf("got error %q, want Interrupted", failed)
	}
	if failed := run("dist.AllReduce(x, dist.Sum)", nil); failed != "" {
		t.Errorf("the next cell: got error %s", failed)
	}
}

// training is a notebook that saves a checkpoint after each step and continues from the last one.
const training = `tensor.ManualSeed(int64(dist.Rank()))
in, want := tensor.Randn(8, 4), tensor.Randn(8, 2)
net := nn.NewSequential(nn.NewLinear(4, 16, nn.InitFrom(tensor.NewGenerator(1))), nn.NewTanh(), nn.NewLinear(16, 2, nn.InitFrom(tensor.NewGenerator(2))))
model := dist.NewDistributedDataParallel(net)
opt := optim.NewSGD(nn.Parameters(net), 0.1)
first := 0
if saved, err := data.LoadNPZ(FILE); err == nil {
	first = int(saved["step"].Item())
	delete(saved, "step")
	if err := nn.LoadStateDict(net, saved); err != nil {
		panic(err)
	}
}
for step := first; step < 6; step++ {
	loss := nn.MSELoss(model.Forward(in), want)
	if step == KILL && dist.Rank() == 1 {
		go func() {
			time.Sleep(time.Millisecond)
			die()
		}()
		select {} // rank 0 waits in the reduction
	}
	loss.Backward()
	opt.Step()
	opt.ZeroGrad()
	if dist.Rank() == 0 {
		state := nn.StateDict(net)
		state["step"] = tensor.Scalar(float64(step + 1))
		if err := data.SaveNPZ(FILE, state); err != nil {
			panic(err)
		}
	}
	dist.Barrier()
}
fmt.Println("from step", first, net.Forward(in).Sum().Item())`

// TestRanksResume kills a rank in a step of training, runs the notebook again, and gets the bits of a run without a fault.
func TestRanksResume(t *testing.T) {
	t.Parallel()
	run := func(file, kill string) string {
		cell := strings.NewReplacer("FILE", fmt.Sprintf("%q", file), "KILL", kill).Replace(training)
		got, log := onRanks(t, nil, nil, strings.Replace(inGroup, "dist.Timeout(time.Second)", "", 1)+"\n"+die, cell)
		if kill == "-1" && !strings.Contains(got[1], "from step") {
			t.Fatalf("got %s\n%s", got[1], log)
		}
		return got[1]
	}
	dir := t.TempDir()
	want := run(filepath.Join(dir, "whole.npz"), "-1")
	if got := run(filepath.Join(dir, "killed.npz"), "3"); strings.Contains(got, "from step") {
		t.Fatalf("the run with a fault ended well: %s", got)
	}
	if got := run(filepath.Join(dir, "killed.npz"), "-1"); got != strings.ReplaceAll(want, "from step 0", "from step 3") {
		t.Errorf("got\n%s\nwant the numbers of\n%s", got, want)
	}
}

// TestRanksFullDisk fails a checkpoint on rank 0, on a disk of 64 kB, while rank 1 waits for it. The checkpoint before stays.
func TestRanksFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	within := []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"`, disk}
	if out, err := exec.Command(within[0], append(within[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("needs unshare --mount: %v\n%s", err, out)
	}
	save := func(n int) string {
		return fmt.Sprintf("if dist.Rank() == 0 {\n\tif err := data.SaveNPZ(%q, map[string]*tensor.Tensor{\"x\": tensor.Ones(%d)}); err != nil {\n\t\tpanic(err)\n\t}\n}\ndist.Barrier()", filepath.Join(disk, "x.npz"), n)
	}
	got, log := onRanks(t, within, []string{"--allow-errors"}, strings.Replace(inGroup, "dist.Timeout(time.Second)", "", 1), save(3), save(100000),
		fmt.Sprintf("saved, err := data.LoadNPZ(%q)\nfmt.Println(err)\ndist.AllReduce(x, dist.Sum)\nsaved[\"x\"].Add(x.Slice(0, 0, 3))", filepath.Join(disk, "x.npz")))
	if !strings.Contains(got[2], "no space left on device") || !strings.Contains(got[2], "Rank 1:\nInterrupted") || got[3] != "<nil>\n= tensor([4., 4., 4.])\n" {
		t.Errorf("got\n%s\n%s\n%s", got[2], got[3], log)
	}
}
