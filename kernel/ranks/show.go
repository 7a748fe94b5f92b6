package ranks

import (
	"fmt"
	"io"
	"strings"

	"halfnote/kernel"
)

// show prints what the other ranks printed, with their ranks.
func (l *Leader) show(out kernel.Output) {
	own := l.others[0].now.plain("")
	for _, p := range l.others[1:] {
		if p.now.plain("") == own {
			continue
		}
		prefix(out.Stdout(), p.Rank, p.now.plain("stdout"))
		prefix(out.Stderr(), p.Rank, p.now.plain("stderr"))
	}
}

// prefix writes text with the rank in front of each line.
func prefix(w io.Writer, rank int, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "[rank %d] %s\n", rank, strings.TrimSuffix(line, "\n"))
	}
}

// List describes the ranks. It implements kernel.Ranks.
func (l *Leader) List() (states []kernel.RankState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.others[0].before.plain("")
	for _, p := range l.others {
		s := kernel.RankState{Rank: p.Rank, Host: p.Host, Pid: p.Pid}
		text := p.before.plain("")
		switch {
		case p.gone:
			s.Output = "has ended"
		case p.Rank > 0 && text == own:
			s.Output = "the same as rank 0"
		default:
			if s.Output = "1 line"; strings.Count(text, "\n") != 1 {
				s.Output = fmt.Sprintf("%d lines", strings.Count(text, "\n"))
			}
		}
		states = append(states, s)
	}
	return states
}

// Outputs returns what a rank showed in the cell before. It implements kernel.Ranks.
func (l *Leader) Outputs(rank int) ([]kernel.KeptOutput, error) {
	if rank < 0 || rank >= len(l.others) {
		return nil, fmt.Errorf("there is no rank %d; this kernel has ranks 0 to %d", rank, len(l.others)-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.others[rank].before.outputs(), nil
}
