package notebook

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarks is the number of characters that open or close emphasis, links, code and HTML in one block of
// Markdown, such as a paragraph. The parser compares each with those before it, which takes minutes for a few ten thousand.
// Further ones are shown as they are.
const maxMarks = 1000

// limit is a parser of inline marks that finds no more than maxMarks in a block.
type limit struct{ parser.InlineParser }

var marksKey = parser.NewContextKey()

// limited returns inline parsers that share the limit of a block.
func limited(list []util.PrioritizedValue) []util.PrioritizedValue {
	for i, v := range list {
		list[i] = util.Prioritized(limit{v.Value.(parser.InlineParser)}, v.Priority)
	}
	return list
}

func (l limit) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	n, _ := pc.Get(marksKey).(int)
	if n >= maxMarks {
		return nil
	}
	pc.Set(marksKey, n+1)
	return l.InlineParser.Parse(parent, block, pc)
}

// CloseBlock is called at the end of a block.
func (l limit) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	pc.Set(marksKey, 0)
	if c, ok := l.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// strikethrough is extension.Strikethrough with the limit.
type strikethrough struct{}

func (strikethrough) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(limited([]util.PrioritizedValue{util.Prioritized(extension.NewStrikethroughParser(), 500)})...))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500)))
}
