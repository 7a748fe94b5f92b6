package display

import "image"

// method is one way in which a value may describe itself.
type method struct {
	name   string
	render func(v any) Bundle // renderer; returns the empty bundle if v has no such method
}

// methods lists the methods that Of looks for; if two give the same MIME type, the earlier one
// wins. The text of a value is handled by plain.
var methods = []method{
	{"HTML", func(v any) Bundle {
		if v, ok := v.(interface{ HTML() string }); ok {
			return single("text/html", v.HTML())
		}
		return Bundle{}
	}},
	{"Markdown", func(v any) Bundle {
		if v, ok := v.(interface{ Markdown() string }); ok {
			return single("text/markdown", v.Markdown())
		}
		return Bundle{}
	}},
	{"LaTeX", func(v any) Bundle {
		if v, ok := v.(interface{ LaTeX() string }); ok {
			return single("text/latex", v.LaTeX())
		}
		return Bundle{}
	}},
	{"SVG", func(v any) Bundle {
		switch x := v.(type) {
		case interface{ SVG() string }:
			return single("text/html", figure(x.SVG(), alt(v)))
		case interface{ SVG() []byte }:
			return single("text/html", figure(string(x.SVG()), alt(v)))
		}
		return Bundle{}
	}},
	{"PNG", func(v any) Bundle {
		if x, ok := v.(interface{ PNG() []byte }); ok {
			return picture("PNG", x.PNG(), alt(v))
		}
		return Bundle{}
	}},
	{"JPEG", func(v any) Bundle {
		if x, ok := v.(interface{ JPEG() []byte }); ok {
			return picture("JPEG", x.JPEG(), alt(v))
		}
		return Bundle{}
	}},
	{"At", func(v any) Bundle { // an image.Image may run any code
		if img, ok := v.(image.Image); ok {
			return Image(img)
		}
		return Bundle{}
	}},
	{"table", func(v any) Bundle {
		if html, ok := records(v); ok {
			return single("text/html", html)
		}
		return Bundle{}
	}},
}

func single(mime string, v any) Bundle { return Bundle{Data: map[string]any{mime: v}} }

// alt returns the alt text of v: its own text, if it has one.
func alt(v any) string {
	switch v.(type) {
	case interface{ String() string }, error:
		return plain(v)
	}
	return ""
}
