package notebook

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/parser"

	"halfnote/internal/testenv"
)

func page1(t *testing.T, nb *Notebook) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, nb); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// body returns the HTML of cells inside the main element of their page.
func body(t *testing.T, cells ...*Cell) string {
	t.Helper()
	_, rest, _ := strings.Cut(page1(t, &Notebook{Cells: cells}), "<main>\n")
	body, _, ok := strings.Cut(rest, "</main>")
	if !ok {
		t.Fatal("the page has no element main")
	}
	return body
}

func TestHTMLMarkdown(t *testing.T) {
	for _, test := range []struct{ name, in, want, not string }{
		{"heading", "# Three loops", `<h1 id="Three-loops">Three loops</h1>`, ""},
		{"table", "|a|b|\n|-|-:|\n|1|2|", `<td style="text-align:right">2</td>`, ""},
		{"text", "1 < 2 & `<b>`", "1 &lt; 2 &amp; <code>&lt;b&gt;</code>", ""},
		{"raw HTML", "<details><summary>x</summary>y</details>", "<details><summary>x</summary>y</details>", ""},
		{"script block", "<script>\nalert(1)\n</script>\n\nafter", "<p>after</p>", "alert"},
		{"script inline", "a <script src=x>alert(1)</script > b", "a  b", "alert"},
		{"script nested", "<p><scr<script></script>ipt>alert(1)</script></p>", "", "<script"},
		{"script open", "<script>alert(1)", "", "alert"},
		{"dangerous link", "[a](javascript:alert)", `<a href="">a</a>`, "javascript"},
		{"link", "[a](05.ipynb#Three-loops)", `<a href="05.ipynb#Three-loops">a</a>`, ""},
		{"Go", "```go\nx := 1 // <\n```", `<span class="n">1</span> <span class="c">// &lt;</span>`, ""},
		{"other code", "```sh\na < b\n```", `<pre class="source"><code>a &lt; b`, "span"},
		{"attachment", "![a dot](attachment:my%20dot.png)", `<img src="data:image/png;base64,AAAA" alt="a dot">`, ""},
		{"missing attachment", "![a dot](attachment:gone.png)", `<img src="" alt="a dot">`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := body(t, &Cell{Type: Markdown, Source: test.in,
				Attachments: map[string]map[string]any{"my dot.png": {"image/png": "AA\nAA\n"}}})
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			if test.not != "" && strings.Contains(got, test.not) {
				t.Errorf("got %s\nwant it without %s", got, test.not)
			}
		})
	}
}

func TestHTMLHeadingIDsAreUnique(t *testing.T) {
	got := body(t, &Cell{Type: Markdown, Source: "## Again"}, &Cell{Type: Markdown, Source: "## Again"})
	if !strings.Contains(got, `id="Again"`) || !strings.Contains(got, `id="Again-1"`) {
		t.Errorf("got %s\nwant two different ids", got)
	}
}

// pageShapes are sources of Markdown of any length.
var pageShapes = map[string]func(n int) string{
	"headings of one name": func(n int) string { return strings.Repeat("# a\n", n) },
	"nested scripts": func(n int) string {
		return "<p>" + strings.Repeat("<scr", n) + "<script></script>" + strings.Repeat("ipt></script>", n)
	},
	"scripts without an end": func(n int) string { return "<p>" + strings.Repeat("<script></script ", n) },
	"emphasis":               func(n int) string { return strings.Repeat("*a_", n) },
	"brackets":               func(n int) string { return strings.Repeat("[", n) + strings.Repeat("](a)", n) },
	"references":             func(n int) string { return strings.Repeat("[a]: b\n", n) + strings.Repeat("[a]", n) },
	"code":                   func(n int) string { return strings.Repeat("``a`", n) },
	"tables":                 func(n int) string { return "|a|\n|-|\n" + strings.Repeat("|*a*|\n", n) },
	"strikethrough":          func(n int) string { return strings.Repeat("~a~~", n) },
	"elements":               func(n int) string { return strings.Repeat("<a", n) },
}

// TestWorkOfPages counts the bytes that a page allocates: twice the source takes little more than twice as many.
func TestWorkOfPages(t *testing.T) {
	for name, source := range pageShapes {
		work := func(n int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			body(t, &Cell{Type: Markdown, Source: source(n)})
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		work(10)
		n, twice, more := work(2000), work(4000), work(8000)
		t.Logf("%s: %d, %d, %d bytes", name, n, twice, more)
		if more > 6*n {
			t.Errorf("%s: %d, %d, %d bytes for sources of 1, 2, 4 times the length; want linear growth", name, n, twice, more)
		}
	}
}

// TestStatementsOfPages counts the statements that are executed for sources of the lengths n, 2n and 4n.
func TestStatementsOfPages(t *testing.T) {
	c := testenv.NewCounter(t, "halfnote/notebooks/notebook,github.com/yuin/goldmark/...", "TestCounted")
	for i, name := range slices.Sorted(maps.Keys(pageShapes)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Growth(t, 1000, func(n int) string { return fmt.Sprint(i, n) })
		})
	}
}

// TestCounted is the child process of TestStatementsOfPages.
func TestCounted(t *testing.T) {
	var i, n int
	testenv.CountedInput(t, &i, &n)
	name := slices.Sorted(maps.Keys(pageShapes))[i]
	body(t, &Cell{Type: Markdown, Source: pageShapes[name](n)})
}

// TestManyDefinitions compares pages of many link definitions, of one line and of several, with those of a parser that takes them at once.
func TestManyDefinitions(t *testing.T) {
	whole := markdownWith(parser.DefaultParagraphTransformers())
	forms := []string{"[a%d]: b%d\n", "[a%d]:\n  b%d\n", "[a%d]: b%d \"t\"\n", "[a%d]: b%d\n'of\nlines'\n", "[a%d]: <b%d>\n", "[a%d]\n: x%d\n", "text %d %d\n", "[a\n%d]: b%d (t)\n"}
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var b strings.Builder
		first, odd := r.IntN(6), r.IntN(12)
		for i := range r.IntN(5 * partLines) {
			form := forms[first]
			if r.IntN(20) < odd {
				form = forms[r.IntN(len(forms)-r.IntN(3))]
			}
			fmt.Fprintf(&b, form, i, i)
		}
		for i := range 5 * partLines {
			fmt.Fprintf(&b, "\n\n[a%d]", i)
		}
		got, err := newMarkdown().render(b.String(), nil)
		want, err2 := whole.render(b.String(), nil)
		if err != nil || err2 != nil || got != want {
			t.Fatalf("%s\n got %s\nwant %s (%v, %v)", b.String(), got, want, err, err2)
		}
	}
}

// TestManyMarks checks that the further marks of a block are text, and that the next block has its own.
func TestManyMarks(t *testing.T) {
	got := body(t, &Cell{Type: Markdown, Source: strings.Repeat("*a* ", 2*maxMarks) + "\n\n*b*"})
	if n := strings.Count(got, "<em>a</em>"); n != maxMarks/2 || !strings.Contains(got, " *a* *a*") || !strings.Contains(got, "<em>b</em>") {
		t.Errorf("got %d emphasized words, want %d, the others as text, and that of the next block", n, maxMarks/2)
	}
}

// TestNoScriptIsLeft removes scripts from random joints of the parts of their tags.
func TestNoScriptIsLeft(t *testing.T) {
	parts := []string{"<scr", "ipt>", "<script", "<SCRIPT>", "</script>", "</script ", ">", "ipt", "<", "x", " src=a", "<scripts>"}
	left := regexp.MustCompile(`(?i)<script([^a-z0-9_]|$)`)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		s := ""
		for range r.IntN(12) {
			s += parts[r.IntN(len(parts))]
		}
		if got := dropScripts(s); left.MatchString(got) {
			t.Fatalf("%q: got %q, which has a script", s, got)
		}
	}
	if got := dropScripts("a<script>b</script>c<scripts>d</scripts>"); got != "ac<scripts>d</scripts>" {
		t.Errorf("got %q, want the text around the script", got)
	}
}

func TestHTMLOutput(t *testing.T) {
	display := func(data map[string]any, metadata ...any) *Output {
		o := &Output{Type: DisplayData, Data: data, Metadata: map[string]any{}}
		for i := 0; i < len(metadata); i += 2 {
			o.Metadata[metadata[i].(string)] = metadata[i+1]
		}
		return o
	}
	for _, test := range []struct {
		name string
		out  *Output
		want string
	}{
		{"stream", &Output{Type: Stream, Name: "stdout", Text: "a < b\n"}, "<pre class=\"stdout\">a &lt; b\n</pre>"},
		{"stderr", &Output{Type: Stream, Name: "stderr", Text: "x"}, `<pre class="stderr">x</pre>`},
		{"error", &Output{Type: Error, Traceback: []string{"\x1b[1;31mPanic\x1b[0m: <x>", "  ^"}},
			"<pre class=\"error\"><span class=\"bold fg1\">Panic</span>: &lt;x&gt;\n  ^</pre>"},
		{"error without traceback", &Output{Type: Error, ErrorName: "Panic", ErrorValue: "boom"}, "Panic: boom"},
		{"HTML first", display(map[string]any{"text/plain": "no", "image/png": "no", "text/html": "<b>yes</b>"}), "<b>yes</b>"},
		{"HTML without its script", display(map[string]any{"text/html": "<b>yes</b><SCRIPT>no()</SCRIPT>."}), "<b>yes</b>."},
		{"markdown", display(map[string]any{"text/plain": "no", "text/markdown": "*yes*"}), "<em>yes</em>"},
		{"SVG before PNG", display(map[string]any{"image/png": "no", "image/svg+xml": "<svg/>"}), `src="data:image/svg+xml;base64,PHN2Zy8+"`},
		{"PNG", display(map[string]any{"image/png": "AA\nAA", "text/plain": "one \"dot\"\nmore"}, "image/png", map[string]any{"width": 12, "height": "1 onload=x"}),
			`<img src="data:image/png;base64,AAAA" alt="one &#34;dot&#34;" width="12">`},
		{"alt", display(map[string]any{"image/png": "AA"}, "image/png", map[string]any{"alt": "the alt"}), `alt="the alt"`},
		{"plain", display(map[string]any{"text/plain": "<*tensor>"}), "<pre>&lt;*tensor&gt;</pre>"},
		{"JSON", display(map[string]any{"application/json": map[string]any{"a": []any{"<"}}}), "\\u003c"},
		{"nothing to show", display(map[string]any{"application/x<y": "1"}), "only a program can show: application/x&lt;y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := body(t, &Cell{Type: Code, Source: "x", Outputs: []*Output{test.out}}); !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHTMLCode(t *testing.T) {
	for _, test := range []struct {
		name string
		cell Cell
		want string
	}{
		{"prompt", Cell{Source: "x", Count: 3}, `<div class="prompt in">In&nbsp;[3]</div>`},
		{"not run", Cell{Source: "x"}, `In&nbsp;[&nbsp;]`},
		{"Go", Cell{Source: "for i := range 3 { f(`<`, 0x1p-2) }"},
			`<span class="k">for</span> i := <span class="k">range</span> <span class="n">3</span> { <span class="f">f</span>(<span class="s">` + "`&lt;`" + `</span>, <span class="n">0x1p-2</span>) }`},
		{"predeclared", Cell{Source: "var x float32"}, `x <span class="t">float32</span>`},
		{"magic", Cell{Source: "%time f(\"a"}, `%time <span class="f">f</span>(`},
		{"result", Cell{Source: "x", Outputs: []*Output{{Type: ExecuteResult, Count: 7, Data: map[string]any{"text/plain": "1"}}}}, `Out&nbsp;[7]`},
		{"hidden", Cell{Source: "x", Metadata: map[string]any{"jupyter": map[string]any{"source_hidden": true}}}, "<details><summary>code</summary>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.cell
			c.Type = Code
			if got := body(t, &c); !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
	if got := body(t, &Cell{Type: Code, Source: " \n"}); got != "" {
		t.Errorf("empty cell: got %q, want nothing", got)
	}
}

func TestHighlightKeepsText(t *testing.T) {
	for _, source := range []string{
		"", "x", "a\r\nb", "a\rb", "`raw\r\nstring`", "\"open", "/* open", "'", "\x00", "\ufeffx", "日本 := 1 //é", "!ls <x>", "%%bash\nfor", "a\n\n\nb\n",
	} {
		got := highlightGo(source)
		text := ""
		d := xml.NewDecoder(strings.NewReader("<a>" + strings.ReplaceAll(got, "\x00", "") + "</a>"))
		d.Strict = false
		d.AutoClose, d.Entity = xml.HTMLAutoClose, xml.HTMLEntity
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%q: got %q: %v", source, got, err)
			}
			if chars, ok := tok.(xml.CharData); ok {
				text += string(chars)
			}
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(source)
		if text != want {
			t.Errorf("text of the HTML: got %q, want %q", text, want)
		}
	}
}

func TestANSIToHTML(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain <", "plain &lt;"},
		{"\x1b[31mred\x1b[39m not", `<span class="fg1">red</span> not`},
		{"\x1b[1;91;44mx\x1b[mY", `<span class="bold fg9 bg4">x</span>Y`},
		{"\x1b[38;5;208mx\x1b[0m", `<span style="color:#ff8700">x</span>`},
		{"\x1b[38;5;3mx", `<span class="fg3">x</span>`},
		{"\x1b[48;5;244mx", `<span style="background:#808080">x</span>`},
		{"\x1b[38;2;1;2;255;1mx", `<span class="bold" style="color:#0102ff">x</span>`},
		{"\x1b[7mx\x1b[27my", `<span class="swap">x</span>y`},
		{"\x1b[31;7mx", `<span class="bg1">x</span>`},
		{"\x1b[2J\x1b[1;1Ha\x1b]0;title\x07b\x1b(c", "ab(c"},
		{"a\x1b[", "a["},
		{"\x1b[38mx\x1b[38;5mx\x1b[99999999999999999999mx", "xxx"},
		{"a\rb\bc\td\n", "abc\td\n"},
	} {
		if got := ansiHTML(test.in); got != test.want {
			t.Errorf("ansiHTML(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestHTMLPage(t *testing.T) {
	nb := read(t, "testdata/kitchen-sink.ipynb")
	nb.Metadata["title"] = "<T> & co"
	got := page1(t, nb)
	for _, want := range []string{"<title>&lt;T&gt; &amp; co</title>", "default-src &#39;none&#39;", `alt="a dot"`, `<span class="c">// &lt;script&gt;`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "src=\"http") {
		t.Error("the page contains a script or fetches a resource")
	}
}

// TestPageLeadsNowhere puts elements that leave the page, or change where its links lead, into outputs and Markdown, in every form in
// which a browser would read them.
func TestPageLeadsNowhere(t *testing.T) {
	for _, in := range []string{
		`<meta http-equiv=refresh content='0;url=https://example.invalid/'>`,
		"<META\nhttp-equiv=refresh content=0>",
		`<meta/http-equiv=refresh>`,
		`<me<script></script>ta http-equiv=refresh>`,
		`<svg><meta http-equiv=refresh></svg>`,
		`<base href="https://example.invalid/">`,
		`<link rel=dns-prefetch href=//example.invalid>`,
		`<iframe src="https://example.invalid/"></iframe>`,
		`<frameset onload=x><frame src=x></frameset>`,
		`<object data=x></object><embed src=x>`,
		`<!-- --><meta http-equiv=refresh>`,
	} {
		for _, c := range []*Cell{
			{Type: Markdown, Source: in},
			{Type: Code, Source: "x", Outputs: []*Output{{Type: DisplayData, Data: map[string]any{"text/html": in}}}},
			{Type: Code, Source: "x", Outputs: []*Output{{Type: DisplayData, Data: map[string]any{"text/markdown": in}}}},
		} {
			got := strings.ToLower(body(t, c))
			for _, name := range []string{"meta", "base", "link", "iframe", "frame", "object", "embed"} {
				if strings.Contains(got, "<"+name) {
					t.Errorf("%q: got an element %s:\n%s", in, name, got)
				}
			}
		}
	}
}
