package notebook

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inParts is a paragraph transformer that gives another one the link definitions at the beginning of a paragraph in parts: goldmark's takes
// each out of the lines that follow, in quadratic time.
type inParts struct{ parser.ParagraphTransformer }

// partLines is the least number of lines of a part.
const partLines = 64

// transformersInParts returns goldmark's transformers.
func transformersInParts() []util.PrioritizedValue {
	list := parser.DefaultParagraphTransformers()
	for i, v := range list {
		list[i] = util.Prioritized(inParts{v.Value.(parser.ParagraphTransformer)}, v.Priority)
	}
	return list
}

// Transform implements parser.ParagraphTransformer.
func (t inParts) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for {
		end := partEnd(lines, reader.Source())
		if end == lines.Len() {
			break
		}
		part, own := ast.NewParagraph(), text.NewSegments()
		own.AppendAll(lines.Sliced(0, end))
		part.SetLines(own)
		part.SetBlankPreviousLines(node.HasBlankPreviousLines())
		node.Parent().InsertBefore(node.Parent(), node, part)
		t.ParagraphTransformer.Transform(part, reader, pc)
		if part.Parent() != nil { // the definitions end, or one continues in the next part
			left := part.Lines().Len()
			node.Parent().RemoveChild(node.Parent(), part)
			lines.SetSliced(end-left, lines.Len())
			if left == end {
				return
			}
			break
		}
		lines.SetSliced(end, lines.Len())
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}

// partEnd returns the number of lines in the first part. A part ends between two lines that begin with a bracket, the first of which
// holds a whole definition.
func partEnd(lines *text.Segments, source []byte) int {
	for i := partLines; i < lines.Len(); i++ {
		last, next := lines.At(i-1), lines.At(i)
		_, target, ok := bytes.Cut(last.Value(source), []byte("]:"))
		if ok && last.Value(source)[0] == '[' && next.Value(source)[0] == '[' && len(bytes.TrimSpace(target)) > 0 && !bytes.ContainsAny(target, `"'(<`) {
			return i
		}
	}
	return lines.Len()
}
