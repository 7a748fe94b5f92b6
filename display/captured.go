package display

import "strings"

// Captured is the output of a cell that ran under %%capture.
type Captured struct {
	// Stdout and Stderr are the texts that the cell printed.
	Stdout, Stderr string
	// Outputs are the displays of the cell in order, and last the value of its last expression.
	Outputs []Bundle

	screen *Screen
}

// Captured returns captured output whose Show draws on the screen.
func (s *Screen) Captured(stdout, stderr string, outputs []Bundle) Captured {
	return Captured{stdout, stderr, outputs, s}
}

// Show shows what was captured: the printed text, then the outputs. It is the method show of
// IPython's CapturedIO.
func (c Captured) Show() {
	screen := c.screen
	if screen == nil {
		screen = standard
	}
	if text := c.Stdout + c.Stderr; text != "" {
		screen.Show(Text(strings.TrimSuffix(text, "\n")))
	}
	for _, b := range c.Outputs {
		screen.Show(b)
	}
}

// String returns the texts of everything that was captured.
func (c Captured) String() string {
	text := c.Stdout + c.Stderr
	for _, b := range c.Outputs {
		text += b.String() + "\n"
	}
	return strings.TrimSuffix(text, "\n")
}
