package notebook

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var (
	//go:embed site.css
	siteStyle string
	//go:embed site.js
	siteScript string
)

// Lesson is a notebook of a site.
type Lesson struct {
	Name     string // file name without its extension
	Notebook *Notebook

	file             string // file name of its page
	title, question  string
	promise, cost    string
	figure, figureIs string // file name and alt text of its chart; "" without one
	sections         []section
}

// section is a part of a lesson for the search.
type section struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// ReadLessons reads notebook files for [WriteSite].
func ReadLessons(paths []string) ([]Lesson, error) {
	var lessons []Lesson
	for _, path := range paths {
		nb, err := ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(path)
		lessons = append(lessons, Lesson{Name: strings.TrimSuffix(name, filepath.Ext(name)), Notebook: nb})
	}
	return lessons, nil
}

// indexPage is the file name of the page with all lessons.
const indexPage = "index.html"

// WriteSite writes pages of executed notebooks into a folder, which it creates: a page for each lesson, with links to the
// lessons before and after it, and an index with questions, charts and a full-text search. The pages need neither a
// server nor a network. The folder also gets the notebooks. Files that it has already are replaced.
// live is the address of a site that `halfnote lite` wrote, which runs the same notebooks: each page has a link that opens its lesson there. "" means no link.
func WriteSite(dir, title, live string, lessons []Lesson) error {
	if len(lessons) == 0 {
		return errors.New("notebook: site: no notebooks are given; want at least one")
	}
	if err := os.MkdirAll(filepath.Join(dir, "charts"), 0o755); err != nil {
		return fmt.Errorf("notebook: site: %w", err)
	}
	pages := map[string]string{} // by the file name of the notebook
	for i := range lessons {
		l := &lessons[i]
		l.file = l.Name + ".html"
		if l.file == indexPage || pages[l.Name+".ipynb"] != "" {
			return fmt.Errorf("notebook: site: two pages would be %s; want notebooks with different names", filepath.Join(dir, l.file))
		}
		pages[l.Name+".ipynb"] = l.file
		if err := l.describe(dir); err != nil {
			return fmt.Errorf("notebook: site: %s: %w", l.Name, err)
		}
	}
	write := func(name string, content func(io.Writer) error) error {
		return writeFile(filepath.Join(dir, name), content)
	}
	for i, l := range lessons {
		s := &site{title: title, pages: pages}
		if live != "" {
			s.live = strings.TrimSuffix(live, "/") + "/lab/index.html?path=" + url.QueryEscape(l.Name+".ipynb")
		}
		if i > 0 {
			s.before = &lessons[i-1]
		}
		if i+1 < len(lessons) {
			s.after = &lessons[i+1]
		}
		s.sections = l.sections
		err := errors.Join(
			write(l.file, func(w io.Writer) error { return writePage(w, l.Notebook, nil, s) }),
			write(l.Name+".ipynb", l.Notebook.Write),
		)
		if err != nil {
			return fmt.Errorf("notebook: site: %w", err)
		}
	}
	return errors.Join(
		write("style.css", func(w io.Writer) error { _, err := io.WriteString(w, style+siteStyle); return err }),
		write(indexPage, func(w io.Writer) error { return writeIndex(w, title, lessons) }),
	)
}

// site is what a page shows of its site; nil for a page that stands alone.
type site struct {
	title         string
	live          string // address at which the lesson runs, or ""
	before, after *Lesson
	sections      []section
	pages         map[string]string
}

// sitePolicy is the Content-Security-Policy of a site's pages: one style sheet, and of scripts only the one of the index. The
// scheme file is that of pages without a server.
func sitePolicy(script string) string {
	p := strings.Replace(policy, "style-src", "style-src 'self' file:", 1)
	p = strings.Replace(p, "img-src", "img-src 'self' file:", 1)
	if script != "" {
		sum := sha256.Sum256([]byte(script))
		p += "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return p
}

// head and foot are the navigation of a lesson's page.
func (s *site) head(p *page) {
	p.printf("<nav class=\"bar\" aria-label=\"lessons\"><a href=\"%s\">%s</a>", indexPage, html.EscapeString(s.title))
	if s.live != "" {
		p.printf("<a class=\"live\" href=\"%s\">Run this lesson</a>", html.EscapeString(s.live))
	}
	s.neighbours(p)
	p.printf("</nav>\n")
	if len(s.sections) > 1 {
		p.printf("<nav class=\"sections\" aria-label=\"sections\">\n<ul>\n")
		for _, part := range s.sections[1:] {
			p.printf("<li><a href=\"#%s\">%s</a></li>\n", html.EscapeString(part.ID), html.EscapeString(part.Title))
		}
		p.printf("</ul>\n</nav>\n")
	}
}

func (s *site) foot(p *page) {
	p.printf("<nav class=\"bar\" aria-label=\"next\">")
	s.neighbours(p)
	p.printf("</nav>\n")
}

func (s *site) neighbours(p *page) {
	p.printf("<span class=\"neighbours\">")
	if s.before != nil {
		p.printf("<a rel=\"prev\" href=\"%s\">← %s</a>", html.EscapeString(s.before.file), html.EscapeString(s.before.title))
	}
	if s.after != nil {
		p.printf("<a rel=\"next\" href=\"%s\">%s →</a>", html.EscapeString(s.after.file), html.EscapeString(s.after.title))
	}
	p.printf("</span>")
}

// describe fills in what the index shows of a lesson, and writes its chart.
func (l *Lesson) describe(dir string) error {
	l.title = cmp.Or(l.Notebook.Title(), l.Name)
	md := newMarkdown()
	l.sections = []section{{Title: l.title}}
	add := func(s string) {
		part := &l.sections[len(l.sections)-1]
		part.Text = strings.TrimSpace(part.Text + " " + strings.Join(strings.Fields(s), " "))
	}
	for _, c := range l.Notebook.Cells {
		switch c.Type {
		case Markdown:
			l.read(md, c, add)
		case Code:
			add(c.Source)
			for _, o := range c.Outputs {
				if s := o.plain(); len(s) < 4000 {
					add(s)
				}
				if strings.Contains(c.Source, "exercise.Cost()") && c.HasTag(timing) {
					l.cost = strings.TrimSpace(o.plain())
				}
			}
		}
	}
	ext, data, alt := l.Notebook.cover()
	if ext == "" {
		return nil
	}
	l.figure, l.figureIs = "charts/"+l.Name+ext, alt
	return writeFile(filepath.Join(dir, filepath.FromSlash(l.figure)), func(w io.Writer) error { _, err := w.Write(data); return err })
}

// read takes the title, question, promise and text of a Markdown cell.
func (l *Lesson) read(md *markdown, c *Cell, add func(string)) {
	src := []byte(c.Source)
	for n := md.parse(src).FirstChild(); n != nil; n = n.NextSibling() {
		words := plainText(n, src)
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			l.sections = append(l.sections, section{ID: string(name), Title: words})
			continue
		}
		if p, ok := n.(*ast.Paragraph); ok && l.question == "" && len(l.sections) == 1 {
			if strong, ok := p.FirstChild().(*ast.Emphasis); ok && strong.Level == 2 {
				l.question = plainText(strong, src)
				l.promise = strings.TrimSpace(strings.TrimPrefix(words, l.question))
			}
		}
		add(words)
	}
}

// plainText returns the words of a node of Markdown, without markup.
func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(src))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(src))
		case *ast.CodeBlock:
			b.Write(n.Lines().Value(src))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// plain returns an output as text without colours.
func (o *Output) plain() string {
	switch o.Type {
	case Stream:
		return escape.ReplaceAllString(o.Text, "")
	case Error:
		return o.ErrorName + ": " + o.ErrorValue
	}
	s, _ := o.Data["text/plain"].(string)
	return escape.ReplaceAllString(s, "")
}

// coverTag is the tag of the cell whose chart stands for its lesson in the index.
const coverTag = "cover"

// cover returns the chart that stands for a notebook: that of the cell tagged cover, else the first after the heading
// "Experiment", else the first. The extension is "" if there is none.
func (nb *Notebook) cover() (ext string, data []byte, alt string) {
	var first *Output
	experiment := false
	for _, c := range nb.Cells {
		experiment = experiment || c.Type == Markdown && regexp.MustCompile(`(?m)^## Experiment`).MatchString(c.Source)
		for _, o := range c.Outputs {
			if ext, _, _ := o.figure(); ext == "" {
				continue
			}
			if c.HasTag(coverTag) {
				return o.figure()
			}
			if first == nil || experiment {
				first, experiment = o, false
			}
		}
	}
	if first == nil {
		return "", nil, ""
	}
	return first.figure()
}

var dataImage = regexp.MustCompile(`<img[^>]* src="data:(image/(?:svg\+xml|png));base64,([^"]+)"`)

// figure returns the picture of an output.
func (o *Output) figure() (ext string, data []byte, alternative string) {
	kinds := map[string]string{"image/svg+xml": ".svg", "image/png": ".png"}
	mime, content := "image/png", ""
	if s, ok := o.Data["text/html"].(string); ok {
		if m := dataImage.FindStringSubmatch(s); m != nil {
			mime, content = m[1], m[2]
		}
	}
	if content == "" {
		content, _ = o.Data[mime].(string)
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
	if err != nil || len(data) == 0 {
		return "", nil, ""
	}
	metadata, _ := o.Metadata["image/png"].(map[string]any)
	return kinds[mime], data, alt(o, metadata)
}

// found is a lesson in the data of the search.
type found struct {
	File     string    `json:"file"`
	Title    string    `json:"title"`
	Sections []section `json:"sections"`
}

func writeIndex(w io.Writer, title string, lessons []Lesson) error {
	p := &page{}
	p.begin(title, sitePolicy(siteScript), "<link rel=\"stylesheet\" href=\"style.css\">\n")
	p.printf("<main class=\"index\">\n<h1>%s</h1>\n", html.EscapeString(title))
	p.printf("<form id=\"search\" role=\"search\" hidden><label>Search the lessons <input type=\"search\" name=\"q\" autocomplete=\"off\"></label></form>\n")
	p.printf("<div id=\"found\" aria-live=\"polite\"></div>\n<ol class=\"lessons\">\n")
	var data []found
	for _, l := range lessons {
		data = append(data, found{l.file, l.title, l.sections})
		p.printf("<li><a href=\"%s\">", html.EscapeString(l.file))
		if l.figure != "" {
			p.printf("<img loading=\"lazy\" src=\"%s\" alt=\"%s\">", html.EscapeString(l.figure), html.EscapeString(l.figureIs))
		}
		p.printf("<h2>%s</h2></a>\n", html.EscapeString(l.numbered()))
		if l.question != "" {
			p.printf("<p><strong>%s</strong> %s</p>\n", html.EscapeString(l.question), html.EscapeString(l.promise))
		}
		if l.cost != "" {
			p.printf("<p class=\"cost\">%s</p>\n", html.EscapeString(l.cost))
		}
		p.printf("</li>\n")
	}
	content, err := json.Marshal(data) // which escapes <, so that no text ends the element
	if err != nil {
		return fmt.Errorf("notebook: site: %w", err)
	}
	p.printf("</ol>\n</main>\n<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n</body>\n</html>\n", content, siteScript)
	_, err = io.WriteString(w, p.b.String())
	return err
}

var leadingNumber = regexp.MustCompile(`^\d+`)

// numbered returns the title after the number of the file name.
func (l *Lesson) numbered() string {
	return strings.TrimSpace(leadingNumber.FindString(l.Name) + " " + l.title)
}

// link returns the page of a notebook of the site, with the anchor of the link; else the target itself.
func (s *site) link(target string) string {
	name, anchor, found := strings.Cut(target, "#")
	page := s.pages[strings.TrimPrefix(name, "./")]
	switch {
	case page == "":
		return target
	case found:
		return page + "#" + anchor
	}
	return page
}
