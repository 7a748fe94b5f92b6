package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"halfnote/install"
	"halfnote/internal/bench"
	"halfnote/interp"
	"halfnote/tensor"
)

type benchCommand struct {
	Subject string         `arg:"" enum:"${subjects}" help:"What to measure: ${enum}."`
	JSON    bool           `name:"json" help:"Print the rows as JSON instead of a table."`
	Device  string         `default:"cpu" enum:"cpu,cuda" help:"Device of halfnote and of the peers: cpu, or cuda, the first NVIDIA GPU."`
	Peer    []string       `default:"torch,openblas,ipykernel" help:"Peers to compare with: torch, openblas, ipykernel, or none."`
	Preset  string         `default:"laptop" enum:"laptop,full" help:"Sizes: laptop takes a minute or two; full has the sizes of the papers."`
	Threads []int          `placeholder:"N" help:"Thread counts to measure, separated by commas; default 1,2."`
	Rounds  int            `placeholder:"N" help:"Rounds of each row; default 8, 12 for full, 3 for cell."`
	Match   *regexp.Regexp `placeholder:"REGEXP" help:"Only rows whose work and dtype match, for example 'step bfloat16'."`
	Clock   string         `default:"wall" enum:"wall,cpu" help:"wall measures elapsed time; cpu measures processor time divided by threads, for busy machines."`
	Python  string         `placeholder:"FILE" help:"Python with the peers installed; default a private one, created on first use."`
	Chart   string         `placeholder:"FILE" help:"Where to write the chart, FILE.png or FILE.svg; default bench-SUBJECT.png in the current folder." type:"path"`
}

func (c benchCommand) Run(ctx context.Context) error {
	exe, err := ownProgram(ctx)
	if err != nil {
		return err
	}
	o := bench.Options{
		Device: c.Device, Preset: c.Preset, Threads: c.Threads, Rounds: c.Rounds, Match: c.Match, CPUTime: c.Clock == "cpu",
		Worker: []string{exe, "work"}, Python: c.Python, Log: os.Stderr,
	}
	for _, peer := range c.Peer {
		if !slices.Contains([]string{"torch", "openblas", "ipykernel", "none", ""}, peer) {
			return fmt.Errorf("bench: --peer %q; want torch, openblas, ipykernel or none", peer)
		}
	}
	if o.Kernel, err = ownSpec(ctx, interp.Engines[0]); err != nil {
		return err
	}
	for _, peer := range bench.Peers(c.Subject) {
		if slices.Contains(c.Peer, peer) {
			o.Peers = append(o.Peers, peer)
		}
	}
	if err := o.Check(c.Subject); err != nil {
		return err
	}
	if len(o.Peers) > 0 && o.Python == "" {
		if o.Python, err = install.PeerPython(ctx, slices.Contains(o.Peers, "torch"), "", os.Stderr); err != nil {
			return err
		}
	}
	rows, err := bench.Run(ctx, c.Subject, o)
	if len(rows) == 0 {
		return errors.Join(err, errors.New("bench: no row was measured"))
	}
	if c.JSON {
		fmt.Println(rows.JSON())
	} else {
		fmt.Println(rows)
		if c.Device == "cpu" {
			fmt.Print(rows.Autocast(tensor.CPUProducts()))
		}
		for _, peer := range rows.PeerNames() {
			fmt.Println(rows.Against(peer).Chart())
		}
	}
	file := c.Chart
	if file == "" {
		file = "bench-" + c.Subject + ".png"
	}
	figure := rows.Chart()
	picture := figure.PNG
	if strings.EqualFold(filepath.Ext(file), ".svg") {
		picture = figure.SVG
	}
	return errors.Join(err, os.WriteFile(file, picture(), 0o666))
}

type workCommand struct {
	Device string `arg:"" help:"Where to compute."`
}

func (c workCommand) Run() error { return bench.Serve(c.Device, os.Stdin, os.Stdout) }
