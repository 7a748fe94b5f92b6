package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/amp/trace"
	"halfnote/display"
	"halfnote/internal/save"
	"halfnote/tensor"
)

type showCommand struct {
	Recording string `arg:"" help:"A recording: halfnote.record in Python and Save of a trace.Recorder in Go write them." type:"existingfile"`
	Op        string `arg:"" optional:"" name:"operation" help:"For --bundle why: an operation such as softmax."`
	HTML      string `placeholder:"FILE" help:"Write a page with all pictures and findings to FILE."`
	Bundle    string `placeholder:"NAME" enum:",${views}" default:"" help:"Print one output as a MIME bundle in JSON: ${views}."`
}

// view is what show shows of a recording.
type view struct {
	name, title string
	of          func(r *trace.Recording) any
}

// views are in the order of the page.
var views = []view{
	{"summary", "", func(r *trace.Recording) any { return r.Recorder }},
	{"overflow", "Where inf and NaN began", func(r *trace.Recording) any { return diagnose.OverflowIn(r) }},
	{"lint", "Findings", func(r *trace.Recording) any { return diagnose.LintIn(r) }},
	{"loss-scale", "Loss scale", func(r *trace.Recording) any { return r.LossScale() }},
	{"dashboard", "Steps", func(r *trace.Recording) any { return r.Dashboard() }},
	{"dtypes", "Dtypes", func(r *trace.Recording) any { return r.DTypes() }},
	{"cast-graph", "Casts", func(r *trace.Recording) any { return r.CastGraph() }},
	{"gradients", "Gradients", func(r *trace.Recording) any { return diagnose.GradientsIn(r) }},
	{"ranges", "Ranges", func(r *trace.Recording) any { return r.Ranges() }},
	{"flushed", "Flushed to zero", func(r *trace.Recording) any { return r.Flushed() }},
	{"timeline", "Time", func(r *trace.Recording) any { return r.Timeline() }},
	{"memory", "Memory", func(r *trace.Recording) any { return r.Memory() }},
	{"table", "", func(r *trace.Recording) any { return r.Table() }},
}

func viewNames() string {
	names := []string{"why"}
	for _, v := range views {
		names = append(names, v.name)
	}
	return strings.Join(names, ",")
}

func (c showCommand) Run() error {
	rec, err := trace.Open(c.Recording)
	if err != nil {
		return err
	}
	switch {
	case c.Bundle != "" && c.HTML != "":
		return errors.New("show: --html and --bundle are two forms; want one of them")
	case c.Bundle != "":
		b, err := c.bundle(rec)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"data": b.Data, "metadata": b.Metadata})
	case c.HTML != "":
		return save.Text(c.HTML, page(rec))
	}
	fmt.Printf("%s: %v\n", rec.Producer, rec.Recorder)
	for _, n := range rec.Notes {
		fmt.Println(n)
	}
	fmt.Printf("\n%v\n\n%v\n\n%v\n", diagnose.OverflowIn(rec), diagnose.GradientsIn(rec), diagnose.LintIn(rec))
	return nil
}

func (c showCommand) bundle(rec *trace.Recording) (display.Bundle, error) {
	if c.Bundle == "why" {
		text, err := why(rec, c.Op)
		return display.Of(text), err
	}
	i := slices.IndexFunc(views, func(v view) bool { return v.name == c.Bundle })
	screen := &display.Screen{}
	screen.SetForm(display.Forms[0])
	return screen.Of(views[i].of(rec)), nil
}

// why says how autocast treated an operation in a recording.
func why(rec *trace.Recording, name string) (string, error) {
	if !slices.ContainsFunc(tensor.Ops(), func(op tensor.Info) bool { return op.Name == name }) {
		return "", fmt.Errorf("show: why: %q is not an operation; want a name of torch such as softmax", name)
	}
	var lines []string
	policy := amp.Float16
	for _, op := range rec.Ops() {
		if op.Name != name || op.Backward {
			continue
		}
		switch cpu := strings.Contains(op.Policy, `"cpu"`); {
		case cpu && strings.Contains(op.Policy, "bfloat16"):
			policy = amp.CPUBFloat16
		case cpu:
			policy = amp.CPUFloat16
		case strings.Contains(op.Policy, "bfloat16"):
			policy = amp.BFloat16
		}
		line := fmt.Sprintf("%s: %v under %s: %s", cmp.Or(op.Module, op.Source, "outside modules"), op.Computed, op.Policy, op.Why)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	text := policy.Why(name)
	if len(lines) == 0 {
		return text + "\nThe recording has no " + name + ".", nil
	}
	return text + "\n" + strings.Join(lines[:min(len(lines), 12)], "\n"), nil
}

// page returns a page with everything that is known of a recording.
func page(rec *trace.Recording) []byte {
	var b strings.Builder
	title := html.EscapeString("Recording of " + cmp.Or(rec.Producer, "a run"))
	fmt.Fprintf(&b, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title>`+
		`<style>body{font-family:system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}pre{white-space:pre-wrap}img{max-width:100%%;height:auto}section{overflow-x:auto}</style></head><body><h1>%s</h1>`, title, title)
	for _, n := range rec.Notes {
		fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(n))
	}
	for _, v := range views {
		if v.title == "" && v.name != "summary" {
			continue
		}
		fmt.Fprintf(&b, "<section><h2>%s</h2>", html.EscapeString(cmp.Or(v.title, "Summary")))
		bundle := display.Of(v.of(rec))
		if text, ok := bundle.Data["text/html"].(string); ok {
			b.WriteString(text)
		} else {
			fmt.Fprintf(&b, "<pre>%s</pre>", html.EscapeString(bundle.String()))
		}
		b.WriteString("</section>")
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String())
}
