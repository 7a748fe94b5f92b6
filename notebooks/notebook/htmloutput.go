package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
)

func (p *page) output(o *Output) error {
	switch o.Type {
	case Stream:
		class := "stdout"
		if o.Name == "stderr" {
			class = "stderr"
		}
		p.printf("<pre class=\"%s\">%s</pre>", class, ansiHTML(o.Text))
	case Error:
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.ErrorName + ": " + o.ErrorValue
		}
		p.printf("<pre class=\"error\">%s</pre>", ansiHTML(text))
	case DisplayData, ExecuteResult:
		return p.bundle(o)
	}
	return nil
}

// shown lists the types that a page can show, best first: the order of
// JupyterLab's renderers, without those that need a script.
var shown = []struct {
	mime string
	show func(p *page, o *Output, text string) error
}{
	{"text/html", (*page).rawHTML},
	{"text/markdown", (*page).markdownOutput},
	{"image/svg+xml", (*page).svg},
	{"image/png", picture("image/png")},
	{"image/jpeg", picture("image/jpeg")},
	{"image/gif", picture("image/gif")},
	{"image/webp", picture("image/webp")},
	{"image/bmp", picture("image/bmp")},
	{"text/plain", (*page).plain},
	{"text/latex", (*page).plain},
}

func (p *page) bundle(o *Output) error {
	for _, s := range shown {
		if text, ok := o.Data[s.mime].(string); ok {
			return s.show(p, o, text)
		}
	}
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		if isJSONType(mime) {
			data, err := json.MarshalIndent(o.Data[mime], "", "  ")
			if err != nil {
				return err
			}
			return p.plain(o, string(data))
		}
	}
	if len(o.Data) > 0 {
		types := slices.Sorted(maps.Keys(o.Data))
		p.printf("<p class=\"note\">an output that only a program can show: %s</p>", html.EscapeString(strings.Join(types, ", ")))
	}
	return nil
}

func (p *page) rawHTML(_ *Output, text string) error {
	p.b.WriteString(harmless(text))
	return nil
}

func (p *page) markdownOutput(_ *Output, text string) error {
	out, err := p.markdown.render(text, nil)
	p.printf("<div class=\"prose\">%s</div>", out)
	return err
}

func (p *page) plain(_ *Output, text string) error {
	p.printf("<pre>%s</pre>", ansiHTML(text))
	return nil
}

// svg shows a drawing as an image, as JupyterLab does, so that scripts in it do not run.
func (p *page) svg(o *Output, text string) error {
	return p.img(o, "image/svg+xml", base64.StdEncoding.EncodeToString([]byte(text)))
}

func picture(mime string) func(*page, *Output, string) error {
	return func(p *page, o *Output, text string) error {
		return p.img(o, mime, strings.Join(strings.Fields(text), ""))
	}
}

var plainNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

func (p *page) img(o *Output, mime, base64 string) error {
	metadata, _ := o.Metadata[mime].(map[string]any)
	p.printf(`<img src="data:%s;base64,%s" alt="%s"`, mime, html.EscapeString(base64), html.EscapeString(alt(o, metadata)))
	for _, side := range []string{"width", "height"} {
		if n := fmt.Sprint(metadata[side]); plainNumber.MatchString(n) {
			p.printf(` %s="%s"`, side, n)
		}
	}
	p.printf(">")
	return nil
}

// alt returns the alt text of an image: its metadata's alt, or the first line of its
// text/plain.
func alt(o *Output, metadata map[string]any) string {
	if s, ok := metadata["alt"].(string); ok {
		return s
	}
	text, _ := o.Data["text/plain"].(string)
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// abroad matches the beginnings of elements by which a page leaves for another one, has its links lead there, or asks for
// it, without a click. The page's policy does not forbid all of them.
var abroad = regexp.MustCompile(`(?i)<(/?(?:meta|base|link|iframe|frame|frameset|object|embed|applet|portal)\b)`)

// harmless returns HTML of a notebook as a page may have it: without scripts, and with the elements that lead abroad as text. In this
// order, because removing a script may join the parts of a tag around it.
func harmless(s string) string { return abroad.ReplaceAllString(dropScripts(s), "&lt;$1") }

// scriptEnd matches the end of a script element.
var scriptEnd = regexp.MustCompile(`(?i)</script[^>]*>`)

// dropScripts removes script elements, so that the file does not contain their text, also those that the
// removal of others would make. The page's policy forbids scripts anyway.
func dropScripts(s string) string {
	const tag = "<script"
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		out = append(out, s[i])
		i++
		at := len(out) - len(tag)
		if at < 0 || out[at] != '<' || !strings.EqualFold(string(out[at:]), tag) || i < len(s) && isWord(s[i]) {
			continue
		}
		out = out[:at]
		end := scriptEnd.FindStringIndex(s[i:])
		if end == nil {
			break // an element without an end reaches to that of the text
		}
		i += end[1]
	}
	return string(out)
}

// isWord reports whether a name that precedes c goes on.
func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
