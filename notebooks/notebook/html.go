package notebook

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed style.css
var style string

// policy is the Content-Security-Policy of a page. No script runs and nothing is fetched,
// whatever HTML the notebook contains.
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; font-src data:; base-uri 'none'; form-action 'none'"

// HTML writes the notebook as one page that needs no network and follows the
// reader's light or dark setting. It shows each output in the type that JupyterLab
// prefers. It removes scripts from HTML in the notebook, and escapes all other text.
func HTML(w io.Writer, nb *Notebook) error { return writePage(w, nb, nil, nil) }

// writePage writes a notebook. With l, the page shows the state of a run and reloads itself. With s, it is a page of a site.
func writePage(w io.Writer, nb *Notebook, l *live, s *site) error {
	p := &page{markdown: newMarkdown(), goCells: nb.Language() == "go" || nb.Language() == ""}
	refresh, state := "", ""
	if l != nil {
		p.running = l.cell
		refresh = fmt.Sprintf("<meta http-equiv=\"refresh\" content=\"%d\">\n", int(watchEvery.Seconds()))
		state = fmt.Sprintf("<p class=\"live\">%s</p>\n", html.EscapeString(l.state))
	}
	title := cmp.Or(nb.Title(), "Notebook")
	if s != nil {
		p.markdown.link = s.link
		p.begin(title, sitePolicy(""), "<link rel=\"stylesheet\" href=\"style.css\">\n")
		s.head(p)
	} else {
		p.begin(title, policy, refresh+"<style>\n"+style+"</style>\n")
	}
	p.printf("<main>\n%s", state)
	for _, c := range nb.Cells {
		if err := p.cell(c); err != nil {
			return fmt.Errorf("notebook: html: cell %s: %w", c.ID, err)
		}
	}
	p.printf("</main>\n")
	if s != nil {
		s.foot(p)
	}
	p.printf("</body>\n</html>\n")
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("notebook: html: %w", err)
	}
	return nil
}

// begin writes the beginning of a page with a policy and further elements of the head.
func (p *page) begin(title, policy, head string) {
	p.printf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
%s</head>
<body>
`, html.EscapeString(policy), html.EscapeString(title), head)
}

// page is the state of writing one page.
type page struct {
	b        strings.Builder
	markdown *markdown
	goCells  bool  // whether code cells are Go
	running  *Cell // cell that is running; nil if none
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *page) cell(c *Cell) error {
	switch c.Type {
	case Markdown:
		text, err := p.markdown.render(c.Source, c.Attachments)
		if err != nil {
			return err
		}
		p.printf("<section class=\"cell prose\">\n%s</section>\n", text)
	case Raw:
		p.printf("<section class=\"cell\">\n<pre class=\"raw\">%s</pre>\n</section>\n", html.EscapeString(c.Source))
	case Code:
		return p.code(c)
	}
	return nil
}

func (p *page) code(c *Cell) error {
	if strings.TrimSpace(c.Source) == "" && len(c.Outputs) == 0 {
		return nil
	}
	p.printf("<section class=\"cell code\">\n")
	open, end := "", ""
	if hidden(c, "source_hidden") {
		open, end = "<details><summary>code</summary>", "</details>"
	}
	source := html.EscapeString(c.Source)
	if p.goCells {
		source = highlightGo(c.Source)
	}
	in := prompt("In", c.Count)
	if c == p.running {
		in = "In&nbsp;[*]"
	}
	p.printf("<div class=\"prompt in\">%s</div>\n%s<pre class=\"source\"><code>%s</code></pre>%s\n", in, open, source, end)
	open, end = "", ""
	if hidden(c, "outputs_hidden") || c.Metadata["collapsed"] == true {
		open, end = "<details><summary>output</summary>", "</details>"
	}
	for _, o := range c.Outputs {
		label := ""
		if o.Type == ExecuteResult {
			label = prompt("Out", o.Count)
		}
		p.printf("<div class=\"prompt out\">%s</div>\n%s<div class=\"output\">", label, open)
		if err := p.output(o); err != nil {
			return err
		}
		p.printf("</div>%s\n", end)
	}
	p.printf("</section>\n")
	return nil
}

func hidden(c *Cell, what string) bool {
	jupyter, _ := c.Metadata["jupyter"].(map[string]any)
	return jupyter[what] == true
}

func prompt(name string, count int) string {
	if count == 0 {
		return name + "&nbsp;[&nbsp;]"
	}
	return fmt.Sprintf("%s&nbsp;[%d]", name, count)
}
