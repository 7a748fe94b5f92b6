package notebook

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders the Markdown of one page, in GitHub's dialect.
type markdown struct {
	gm   goldmark.Markdown
	ids  headingIDs
	link func(target string) string // replaces the targets of links; nil to keep them
}

func newMarkdown() *markdown { return markdownWith(transformersInParts()) }

func markdownWith(transformers []util.PrioritizedValue) *markdown {
	return &markdown{
		gm: goldmark.New(
			goldmark.WithParser(parser.NewParser(
				parser.WithBlockParsers(parser.DefaultBlockParsers()...),
				parser.WithInlineParsers(limited(parser.DefaultInlineParsers())...),
				parser.WithParagraphTransformers(transformers...),
			)),
			goldmark.WithExtensions(extension.Linkify, extension.Table, strikethrough{}, extension.TaskList),
			goldmark.WithParserOptions(parser.WithAutoHeadingID()),
			goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(goBlocks{}, 100))),
		),
		ids: headingIDs{},
	}
}

// render returns the HTML of source, with attachments in place and without
// scripts.
func (m *markdown) render(source string, attachments map[string]map[string]any) (string, error) {
	src := []byte(source)
	doc := m.parse(src)
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			if entering {
				n.Destination = target(n.Destination, attachments)
			}
		case *ast.Link:
			if entering {
				n.Destination = target(n.Destination, attachments)
				if m.link != nil {
					n.Destination = []byte(m.link(string(n.Destination)))
				}
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := m.gm.Renderer().Render(&b, src, doc); err != nil {
		return "", err
	}
	return harmless(b.String()), nil
}

// parse returns the tree of a Markdown text.
func (m *markdown) parse(src []byte) ast.Node {
	return m.gm.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(m.ids))))
}

// target resolves attachment:NAME to a data URL, and returns an empty URL for one that
// would run code.
func target(dest []byte, attachments map[string]map[string]any) []byte {
	name, ok := strings.CutPrefix(string(dest), "attachment:")
	if !ok {
		if html.IsDangerousURL(dest) {
			return nil
		}
		return dest
	}
	bundle := attachments[name]
	if unescaped := string(util.URLEscape([]byte(name), false)); bundle == nil {
		for key := range attachments { // spaces in names are written %20
			if string(util.URLEscape([]byte(key), false)) == unescaped {
				bundle = attachments[key]
			}
		}
	}
	for mime, content := range bundle {
		if data, ok := content.(string); ok && strings.HasPrefix(mime, "image/") {
			return []byte("data:" + mime + ";base64," + strings.Join(strings.Fields(data), ""))
		}
	}
	return nil
}

// headingIDs makes the anchor of a heading as JupyterLab does, from its text with dashes
// for spaces, so that links between cells work in a page too. It maps each anchor in use to
// the number that the next heading of that text gets.
type headingIDs map[string]int

func (h headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	base := strings.ReplaceAll(strings.NewReplacer("`", "", "*", "", `"`, "", "<", "", ">", "", "&", "").Replace(strings.TrimSpace(string(value))), " ", "-")
	id, n := base, max(1, h[base])
	for ; h[id] > 0 || id == ""; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	h[id] = 1
	h[base] = n
	return []byte(id)
}

func (h headingIDs) Put(value []byte) { h[string(value)] = max(1, h[string(value)]) }

// goBlocks renders fenced code blocks. Go is coloured.
type goBlocks struct{}

func (goBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.FencedCodeBlock)
		code := string(block.Lines().Value(src))
		out := string(util.EscapeHTML([]byte(code)))
		if lang := string(block.Language(src)); lang == "go" || lang == "golang" {
			out = highlightGo(code)
		}
		_, err := w.WriteString("<pre class=\"source\"><code>" + out + "</code></pre>\n")
		return ast.WalkSkipChildren, err
	})
}
