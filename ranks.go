package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"halfnote/dist"
	"halfnote/install"
	"halfnote/interp"
	"halfnote/kernel"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/ranks"
)

// severalRanks are the options of commands that run cells in several processes.
type severalRanks struct {
	Ranks    int    `default:"1" placeholder:"N" help:"Run each cell in N processes, the ranks of an MPI program."`
	Launcher string `placeholder:"COMMAND" help:"Command that starts the ranks, for example 'srun --mpi=pmix'; mpiexec by default."`
}

func (r severalRanks) several() bool { return r.Ranks != 1 || r.Launcher != "" }

// flags are the options for the command kernel.
func (r severalRanks) flags() []string {
	list := []string{"--ranks", strconv.Itoa(r.Ranks)}
	if r.Launcher != "" {
		list = append(list, "--launcher", r.Launcher)
	}
	return list
}

// launch starts a kernel of several ranks and waits for its end.
func (c kernelCommand) launch() error {
	if c.ConnectionFile == "" {
		return errors.New("kernel: --ranks needs a connection file: a server on another machine can start only kernels of one rank")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(os.Interrupt) // it reaches the ranks as a message of the front end
	file, err := filepath.Abs(c.ConnectionFile)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	launcher, err := ranks.FindLauncher(ctx, c.Launcher, install.MPIFolders()...)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	program := []string{self, "kernel", "--engine", c.Engine}
	for _, flag := range []struct{ name, value string }{{"--charts", c.Charts}, {"--theme", c.Theme}} {
		if flag.value != "" {
			program = append(program, flag.name, flag.value)
		}
	}
	return ranks.Launch(ctx, ranks.Options{Ranks: c.Ranks, Launcher: launcher, Program: program, Task: file, Log: os.Stderr})
}

// launcherLine describes the program that starts several ranks.
func launcherLine(ctx context.Context) string {
	l, err := ranks.FindLauncher(ctx, "", install.MPIFolders()...)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "ranks: ")
	}
	return fmt.Sprintf("%s (%s) starts several ranks: run --ranks 2", strings.Join(l.Command, " "), l.Name)
}

// mpiLine describes the MPI libraries.
func mpiLine() string {
	var list []string
	for _, l := range dist.Libraries() {
		list = append(list, l.Path+" ("+l.ABI+")")
	}
	if len(list) == 0 {
		return "no library found, so package dist has one rank; " + ranks.Advice
	}
	return "for package dist: " + strings.Join(list, ", ")
}

// join makes this process a rank, with its share of the machine.
func (c kernelCommand) join() (*ranks.Member, error) {
	if !ranks.Invited() {
		return nil, nil
	}
	m, err := ranks.Join()
	if err != nil {
		return nil, err
	}
	m.Recover = dist.Abandon
	if os.Getenv("GOMAXPROCS") == "" && m.Local > 1 {
		share := max(1, runtime.NumCPU()/m.Local)
		runtime.GOMAXPROCS(share)
		os.Setenv("GOMAXPROCS", strconv.Itoa(share))
	}
	return m, nil
}

// lead serves the front end on rank 0.
func (c kernelCommand) lead(m *ranks.Member, config jupyter.Config, session *interp.Session) error {
	if _, err := os.Stat(config.ConnectionFile); err != nil {
		host, _ := os.Hostname()
		return fmt.Errorf("kernel: rank 0 runs on %s and cannot read the connection file: let the launcher start it on the machine of the front end, and list that machine first: %w", host, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l := m.Lead(session, stop)
	return jupyter.Serve(ctx, config, led{session, l})
}

// led is a session whose cells run on all ranks.
type led struct {
	*interp.Session
	*ranks.Leader
}

var _ interface {
	kernel.Evaluator
	kernel.Completer
	kernel.CommUser
	kernel.OutputUser
	kernel.Debugger
	kernel.VariableLister
} = led{}

func (l led) Eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	return l.Leader.Eval(ctx, in, out)
}

func (l led) Close() error { return l.Leader.Close() }

var _ io.Closer = led{}
