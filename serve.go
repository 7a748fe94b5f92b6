package main

import (
	"context"
	"errors"
	"log"
	"os"
	"runtime/debug"

	"halfnote/amp"
	"halfnote/install"
	"halfnote/internal/plumbing"
	"halfnote/interp"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/remote"
	"halfnote/tensor/driver"
)

type kernelCommand struct {
	ConnectionFile string `arg:"" optional:"" help:"The connection file that the front end wrote. Without it the kernel chooses its ports and answers to --response-address." type:"existingfile"`
	Engine         string `default:"${engine}" enum:"${engines}" help:"Interpreter of cells: ${engines}."`
	Charts         string `default:"" enum:",${forms}" placeholder:"FORM" help:"Form of charts until a cell sets %charts: ${forms}."`
	Theme          string `default:"" enum:",${themes}" placeholder:"THEME" help:"Colours of charts until a cell sets %theme: ${themes}."`

	severalRanks

	KernelID            string `group:"server" placeholder:"ID" env:"KERNEL_ID" help:"Name of the kernel in its answer."`
	PortRange           string `group:"server" placeholder:"A..B" env:"PORT_RANGE" help:"Ports to choose from; 0..0 for any."`
	ResponseAddress     string `group:"server" placeholder:"IP:PORT" env:"RESPONSE_ADDRESS" help:"Where the server waits for the connection."`
	PublicKey           string `group:"server" placeholder:"KEY" env:"PUBLIC_KEY" help:"The server's RSA key in base64, which encrypts the answer."`
	TransportEncryption string `group:"server" default:"" enum:",disabled,auto,required" placeholder:"POLICY" env:"TRANSPORT_ENCRYPTION" help:"Encrypt connections: disabled, auto or required."`
}

// endedVariable is the environment variable in which the server of lab tells a kernel how the process ended that it replaces.
const endedVariable = "HALFNOTE_ENDED"

// serve runs the kernel. Without a connection file it answers to a server on another machine.
func (c kernelCommand) serve(config jupyter.Config, session *interp.Session) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if c.ConnectionFile == "" {
		launch, err := remote.New(remote.Options{
			KernelID: c.KernelID, PortRange: c.PortRange, ResponseAddress: c.ResponseAddress, PublicKey: c.PublicKey, TransportEncryption: c.TransportEncryption,
		})
		if err != nil {
			return errors.Join(err, session.Close())
		}
		defer launch.Close()
		config.Connection = launch.Connection()
		config.Ready = func(conn jupyter.Connection) {
			if err := launch.Answer(conn, log.New(config.Log, "", 0)); err != nil {
				stop(err)
			}
		}
	}
	err := jupyter.Serve(ctx, config, session)
	return errors.Join(err, context.Cause(ctx))
}

func (c kernelCommand) Run() error {
	member, err := c.join()
	if err != nil {
		return err
	}
	if member == nil && c.ConnectionFile == "" && c.ResponseAddress == "" {
		return errors.New("kernel: a connection file is missing, or --response-address for a server on another machine")
	}
	if member == nil && c.several() {
		return c.launch()
	}
	os.Unsetenv("JUPYTER_TOKEN") // the server's, by which its clients run code; no cell needs it
	ended := os.Getenv(endedVariable)
	os.Unsetenv(endedVariable)
	os.Unsetenv(install.Arenas) // the C library has read it
	limit, setBy := driver.Limit()
	if member != nil {
		limit /= int64(member.Local)
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit / 10 * 9) // the collector works harder before memory runs out
	}
	session, err := interp.NewSession(interp.Options{Release: version, Engine: c.Engine, Theme: c.Theme, Charts: c.Charts, Memory: limit / 10 * 9, MemorySetBy: setBy, Mapped: driver.Mapped, Sources: sources, Lessons: tutorials, Leave: amp.Internal(plumbing.Token{}).CloseRegions})
	if err != nil {
		return err
	}
	// Poll lets interrupts end long tensor operations. Source gives their line in the cell.
	driver.SetHost(driver.Host{Poll: session.Poll, Source: session.Source, Tracing: session.Watch})
	own := os.Stderr
	restore, err := interp.CaptureProcessOutput(session)
	if err != nil {
		return err
	}
	defer restore()
	if member != nil && member.Rank > 0 {
		return errors.Join(member.Work(context.Background(), session), session.Close())
	}
	if member != nil {
		c.ConnectionFile = member.Task
	}
	config := jupyter.Config{
		ConnectionFile: c.ConnectionFile, Log: own, Process: true, History: jupyter.HistoryFile(), Notebook: os.Getenv("JPY_SESSION_NAME"), Ended: ended,
	}
	if member != nil {
		return c.lead(member, config, session)
	}
	return c.serve(config, session)
}
