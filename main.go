// Command halfnote is a Jupyter kernel for Go with tensors and automatic mixed precision, an
// installer, a headless runner of notebooks and a private JupyterLab.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"halfnote/cuda"
	"halfnote/display"
	"halfnote/install"
	"halfnote/internal/bench"
	"halfnote/internal/goid"
	"halfnote/internal/release"
	"halfnote/interp"
	"halfnote/kernel/client"
	"halfnote/notebooks/notebook"
	"halfnote/tensor"
)

const version = release.Version

type commands struct {
	Kernel    kernelCommand    `cmd:"" help:"Serve a Jupyter front end (started by the front end)."`
	Install   installCommand   `cmd:"" help:"Add the kernel to Jupyter, as Go (halfnote)."`
	Run       runCommand       `cmd:"" help:"Execute notebooks without Jupyter or Python."`
	Verify    verifyCommand    `cmd:"" help:"Run notebooks and compare what they compute, bit by bit, with the receipts that run --receipt stored in them."`
	Site      siteCommand      `cmd:"" help:"Write pages to read without running: notebooks with an index and a search."`
	Lite      liteCommand      `cmd:"" help:"Write a site in which notebooks run in the reader's browser, with nothing to install."`
	Export    exportCommand    `cmd:"" help:"Write a notebook as a Go program that prints the same output."`
	Fmt       fmtCommand       `cmd:"" help:"Format the code cells of notebooks, as gofmt does."`
	Lab       labCommand       `cmd:"" help:"Open your copy of the tutorials in a private JupyterLab."`
	Tutorials tutorialsCommand `cmd:"" help:"Copy the tutorials to a folder."`
	NBGrader  nbgraderCommand  `cmd:"" name:"nbgrader" help:"Write nbgrader's configuration for a course with Go notebooks."`
	Bench     benchCommand     `cmd:"" help:"Compare halfnote's speed on this machine with PyTorch's, OpenBLAS's and ipykernel's."`
	Work      workCommand      `cmd:"" hidden:"" help:"Work for bench: read requests, print replies."`
	Cells     cellsCommand     `cmd:"" hidden:"" help:"Fail unless cells can be compiled."`
	Show      showCommand      `cmd:"" help:"Show a recording of a PyTorch or a Go program: as text, as a page, or as one output."`
	Doctor    doctorCommand    `cmd:"" help:"Report what halfnote finds on this machine."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
	Help      helpCommand      `cmd:"" help:"Describe the commands, or one of them."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx)(); err != nil {
		fmt.Fprintln(os.Stderr, "halfnote:", err)
		if missing := (*engineError)(nil); errors.As(err, &missing) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// command returns the function that runs the command of the arguments. It does not refer to the parser,
// which every garbage collection would visit.
func command(ctx context.Context) (run func() error) {
	var c commands
	k := kong.Parse(&c,
		kong.Name("halfnote"),
		kong.Description("A Jupyter kernel for Go with tensors and automatic mixed precision."),
		kong.ShortUsageOnError(),
		kong.Vars{"tutorials": tutorialsDir, "engine": interp.Engines[0], "engines": strings.Join(interp.Engines, ","), "themes": strings.Join(display.Themes[:], ","), "forms": strings.Join(display.Forms[:], ","), "subjects": strings.Join(bench.Subjects(), ","), "views": viewNames()},
	)
	switch command := k.Selected().Target.Addr().Interface().(type) {
	case interface{ Run() error }:
		return command.Run
	case interface{ Run(context.Context) error }:
		return func() error { return command.Run(ctx) }
	}
	return func() error { return k.Run() } // help, which describes the commands
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"A command, for example run."`
}

// Run prints what --help prints.
func (c helpCommand) Run(k *kong.Kong) error {
	_, err := k.Parse(append(c.Command, "--help"))
	return err
}

type installCommand struct {
	User      bool   `xor:"where" help:"Install into the user's Jupyter folder (the default)."`
	Prefix    string `xor:"where" placeholder:"DIR" help:"Install into DIR/share/jupyter/kernels."`
	SysPrefix bool   `xor:"where" help:"Install into the active Python environment."`
	Engine    string `default:"${engine}" enum:"${engines}" help:"Interpreter of cells: ${engines}. Engines other than ${engine} become separate kernels."`
	severalRanks
	Remote string `placeholder:"WHERE" help:"For a server with gateway_provisioners, which starts the kernel elsewhere: ssh and yarn, on machines where this program has the same path; docker and kubernetes, in containers of --image. A separate kernel."`
	Image  string `placeholder:"NAME" help:"Image of a container with halfnote, for --remote=docker and --remote=kubernetes."`
}

func (c installCommand) Run(ctx context.Context) error {
	program, err := ownProgram(ctx)
	if err != nil {
		return err
	}
	second := ""
	if c.Remote == "" { // another machine may have what this one lacks
		if err := available(ctx, program, c.Engine); err != nil {
			return err
		}
		second = secondEngine(ctx, program, c.Engine)
	}
	dir, err := install.Install(install.Options{
		User: c.User, Prefix: c.Prefix, SysPrefix: c.SysPrefix, Engine: other(c.Engine), Second: second, Ranks: c.Ranks, Launcher: c.Launcher, Remote: c.Remote, Image: c.Image, Version: version, Binary: program,
	})
	if err != nil {
		return err
	}
	fmt.Println("installed the kernelspec", filepath.Base(dir), "in", dir)
	if second != "" {
		fmt.Println("next to it is a second one, whose cells are compiled: --engine", second)
	}
	if !c.SysPrefix {
		fmt.Printf("for %%%%go in Python notebooks, papermill -p and the export as a script: python -m pip install \"%s\"\n", install.Wheel(dir, version))
	}
	return nil
}

type siteCommand struct {
	Notebooks []string `arg:"" optional:"" name:"notebook" help:"Executed notebooks, in the order of the site. Without any, the tutorials." type:"existingfile"`
	Dir       string   `default:"halfnote-site" help:"Folder for the pages; its index is index.html." type:"path"`
	Title     string   `default:"Mixed precision in Go" help:"Title of the index."`
	Live      string   `placeholder:"ADDRESS" help:"Address of a site that halfnote lite wrote, also a relative one: each page gets a link that runs its lesson there."`
	First     bool     `name:"run" help:"Run the notebooks first. The files stay as they are; the site gets the executed copies."`
}

func (c siteCommand) Run(ctx context.Context) error {
	if len(c.Notebooks) == 0 {
		dir, err := os.MkdirTemp("", "halfnote-site")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := copyTutorials(dir, nil); err != nil {
			return err
		}
		if c.Notebooks, err = filepath.Glob(filepath.Join(dir, "*.ipynb")); err != nil {
			return err
		}
	}
	if c.First {
		o := notebook.RunOptions{OutputDir: c.Dir, Fresh: true, Progress: os.Stderr, Start: runCommand{severalRanks: severalRanks{Ranks: 1}}.start}
		if err := notebook.RunFiles(ctx, c.Notebooks, o); err != nil {
			return err
		}
		for i, path := range c.Notebooks {
			c.Notebooks[i] = filepath.Join(c.Dir, filepath.Base(path))
		}
	}
	lessons, err := notebook.ReadLessons(c.Notebooks)
	if err != nil {
		return err
	}
	if err := notebook.WriteSite(c.Dir, c.Title, c.Live, lessons); err != nil {
		return err
	}
	fmt.Println("open", filepath.Join(c.Dir, "index.html"), "in a browser")
	return nil
}

var built struct {
	sync.Once
	path string
	err  error
}

// ownProgram returns the path of this program, or of the same program with GPU support.
func ownProgram(ctx context.Context) (string, error) {
	built.Do(func() {
		built.path, built.err = install.BuildGPU(ctx, os.Stderr)
		if built.err != nil && built.path != "" { // it runs without GPU support
			fmt.Fprintln(os.Stderr, built.err)
			built.err = nil
		}
	})
	return built.path, built.err
}

// ownSpec returns a kernelspec of this program, which need not be installed.
func ownSpec(ctx context.Context, engine string) (client.Spec, error) {
	exe, err := ownProgram(ctx)
	if err != nil {
		return client.Spec{}, err
	}
	return client.Spec{
		DisplayName: "Go (halfnote)", Language: "go", InterruptMode: "message",
		Metadata: client.SpecMetadata{SupportedEncryption: []any{"curve"}},
		Argv:     []string{exe, "kernel", "--engine", engine, "{connection_file}"},
		// The history and the progress in the course keep only what a user typed.
		Env: map[string]string{"HALFNOTE_HISTORY": "", "HALFNOTE_PROGRESS": "", install.Arenas: "1"},
	}, nil
}

type exportCommand struct {
	Notebook string `arg:"" help:"The notebook, or - for standard input. Cells that ended with an error are left out." type:"existingfile"`
	File     string `arg:"" help:"The Go file to write, or - for standard output." type:"path"`
}

func (c exportCommand) Run() error {
	read := func() (*notebook.Notebook, error) { return notebook.ReadFile(c.Notebook) }
	if c.Notebook == "-" {
		read = func() (*notebook.Notebook, error) { return notebook.Read(os.Stdin) }
	}
	nb, err := read()
	if err != nil {
		return err
	}
	if err := os.Chdir(filepath.Dir(c.Notebook)); err != nil { // cells import packages relative to their notebook
		return err
	}
	var cells []interp.ExecutedCell
	for i, code := range nb.CodeCells() {
		ran := interp.ExecutedCell{Code: code.Source, Count: i + 1, Shown: code.Count == 0} // a cell that has not run may show its value
		for _, o := range code.Outputs {
			ran.Shown = ran.Shown || o.Type == notebook.ExecuteResult
			if o.Type == notebook.Error {
				ran.Failed = o.ErrorName
			}
		}
		cells = append(cells, ran)
	}
	src, err := interp.Export(cells)
	hint := interp.GoModHint(c.File, src, version)
	if c.File == "-" {
		for line := range strings.Lines(hint) {
			fmt.Print("// ", line)
		}
		fmt.Print("\n", string(src))
		return err
	}
	if len(src) > 0 {
		err = errors.Join(err, os.WriteFile(c.File, src, 0o666))
	}
	if err != nil {
		return err
	}
	fmt.Print(hint)
	return nil
}

type fmtCommand struct {
	Notebooks []string `arg:"" name:"notebook" help:"Notebooks to format. Outputs stay as they are." type:"existingfile"`
	List      bool     `short:"l" help:"Print the names of the notebooks that would change, and change nothing."`
}

func (c fmtCommand) Run() error {
	changed, err := notebook.FormatFiles(c.Notebooks, interp.Format, !c.List)
	for _, file := range changed {
		fmt.Println(file)
	}
	return err
}

type labCommand struct {
	Port      int           `default:"8888" help:"Port of the server."`
	NoBrowser bool          `help:"Print the address instead of opening a browser."`
	Dir       string        `placeholder:"DIR" help:"Open the notebooks in DIR. Without it, lab opens ${tutorials} in the current folder, with copies of the tutorials." type:"path"`
	Engine    string        `default:"${engine}" enum:"${engines}" help:"Interpreter of cells: ${engines}."`
	Idle      time.Duration `default:"1h" help:"End a kernel that has run no cell, and that no page has shown, for this time. Its variables are lost, the history keeps its cells and outputs. 0 lets kernels run."`
	severalRanks
	Args []string `arg:"" optional:"" passthrough:"" help:"Further arguments for jupyter lab, after --."`
}

// tutorials are the notebooks that lab copies, and their pictures.
//
//go:embed notebooks/[0-9][0-9]-*.ipynb notebooks/[a-z][a-z]/[0-9][0-9]-*.ipynb notebooks/images/*.png
var tutorials embed.FS

// tutorialsDir is the folder of the user's copies.
const tutorialsDir = "halfnote-notebooks"

func (c labCommand) Run(ctx context.Context) error {
	program, err := ownProgram(ctx)
	if err != nil {
		return err
	}
	if err := available(ctx, program, c.Engine); err != nil {
		return err
	}
	if len(c.Args) > 0 && c.Args[0] == "--" { // jupyter would take it for a file's name
		c.Args = c.Args[1:]
	}
	if c.Dir == "" {
		c.Dir = tutorialsDir
		if err := copyTutorials(c.Dir, notRun); err != nil {
			return err
		}
	}
	return install.Lab(ctx, install.LabOptions{
		Port: c.Port, NoBrowser: c.NoBrowser, Dir: c.Dir, Engine: other(c.Engine), Second: secondEngine(ctx, program, c.Engine), Ranks: c.Ranks, Launcher: c.Launcher, Idle: c.Idle, Args: c.Args, Version: version, Binary: program,
		Stdout: os.Stdout, Stderr: os.Stderr,
	})
}

// notRun returns a notebook as one that has not run: a learner guesses before an output is there. Other files stay as they are.
func notRun(name string, text []byte) ([]byte, error) {
	if filepath.Ext(name) != ".ipynb" {
		return text, nil
	}
	nb, err := notebook.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	nb.ClearOutputs()
	var out bytes.Buffer
	err = nb.Write(&out)
	return out.Bytes(), err
}

// copyTutorials copies the tutorials to dir, with the content that edit returns, and names those that the user has changed.
func copyTutorials(dir string, edit func(name string, text []byte) ([]byte, error)) error {
	files, err := fs.Sub(tutorials, "notebooks")
	if err != nil {
		return err
	}
	kept, err := install.CopyTutorials(files, dir, edit)
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		fmt.Printf("Keeping your own %s in %s; move a file away to get a fresh copy.\n", strings.Join(kept, ", "), dir)
	}
	return nil
}

type tutorialsCommand struct {
	Dir string `arg:"" optional:"" default:"${tutorials}" help:"The folder, which is created. Files that you have changed stay as they are." type:"path"`
}

func (c tutorialsCommand) Run() error {
	if err := copyTutorials(c.Dir, notRun); err != nil {
		return err
	}
	fmt.Println("the tutorials are in", c.Dir)
	return nil
}

type nbgraderCommand struct {
	Dir string `arg:"" help:"Folder of the course, which gets nbgrader_config.py, or - for standard output." type:"path"`
}

func (c nbgraderCommand) Run() error {
	if c.Dir == "-" {
		fmt.Print(install.NBGraderConfig)
		return nil
	}
	path, err := install.NBGrader(c.Dir)
	if err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}

type liteCommand struct {
	Output string `default:"halfnote-lite" placeholder:"DIR" help:"Folder of the site." type:"path"`
	Dir    string `placeholder:"DIR" help:"Show the notebooks in DIR. Without it, the tutorials." type:"existingdir"`
	Serve  bool   `help:"Serve the site on this machine when it is written."`
	Port   int    `default:"8000" help:"Port for --serve."`
}

func (c liteCommand) Run(ctx context.Context) error {
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "halfnote-lessons-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.Dir = dir
		if err := copyTutorials(c.Dir, notRun); err != nil {
			return err
		}
	}
	if err := install.Lite(ctx, install.LiteOptions{Output: c.Output, Contents: c.Dir, Progress: os.Stdout}); err != nil {
		return err
	}
	if !c.Serve {
		fmt.Println("the site is in", c.Output+": any server of static files can show it, and halfnote lite --serve does on this machine")
		return nil
	}
	return install.ServeSite(ctx, c.Output, c.Port, func(url string) { fmt.Println("open", url+"lab/index.html", "in a browser; Ctrl-C ends the server") })
}

type doctorCommand struct {
	JSON bool `name:"json" help:"Print one JSON object, for bug reports."`
}

func (c doctorCommand) Run(ctx context.Context) error {
	return install.Doctor(ctx, os.Stdout, install.DoctorOptions{JSON: c.JSON, Version: version, GPU: gpu(), Products: tensor.CPUProducts(), Compiled: compiled(ctx), Ranks: launcherLine(ctx), MPI: mpiLine(), Goroutines: goid.Way()})
}

func compiled(ctx context.Context) string {
	own, err := os.Executable()
	if err == nil {
		err = available(ctx, own, interp.Compiled)
	}
	if missing := (*engineError)(nil); errors.As(err, &missing) {
		return missing.why
	}
	if err != nil {
		return err.Error()
	}
	return "cells can be compiled: --engine " + interp.Compiled
}

func gpu() string {
	if err := cuda.Err(); err != nil {
		return err.Error()
	}
	major, minor := cuda.DeviceCapability(0)
	return fmt.Sprintf("%s, compute capability %d.%d; %s", cuda.DeviceName(0), major, minor, cuda.Products())
}

type versionCommand struct{}

func (versionCommand) Run() error {
	fmt.Printf("halfnote %s, %s, %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
