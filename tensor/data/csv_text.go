package data

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// encodings are the values of CSVOptions.Encoding. A mark at the start of UTF-16 says its byte order.
var encodings = map[string]encoding.Encoding{
	"utf-8": encoding.Nop, "utf-16": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16be": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"latin1": charmap.ISO8859_1, "windows-1252": charmap.Windows1252,
}

// text returns the text of a table as UTF-8 with line feeds, from the first line that is not skipped.
func (s source) text(in io.Reader, o CSVOptions) (io.Reader, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	if start, _ := b.Peek(2); string(start) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, s.fail(err)
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	name := o.Encoding
	if name == "" {
		name = "utf-8"
	}
	start, _ := b.Peek(3)
	switch {
	case strings.HasPrefix(string(start), "\xff\xfe"), strings.HasPrefix(string(start), "\xfe\xff"):
		name = "utf-16"
	case string(start) == "\ufeff":
		name = "utf-8"
		b.Discard(len(start)) // the mark
	}
	e, ok := encodings[name]
	if !ok {
		return nil, s.fail(fmt.Errorf("the encoding %s is not known; want one of %s", quoted(name), strings.Join(slices.Sorted(maps.Keys(encodings)), ", ")))
	}
	var text io.Reader = b
	if e != encoding.Nop {
		text = e.NewDecoder().Reader(b)
	}
	lines := &lineReader{r: bufio.NewReaderSize(text, 1<<16)}
	for range o.Skip {
		if err := lines.skip(); err != nil {
			return nil, s.fail(err)
		}
	}
	return lines, nil
}

// lineReader turns the carriage returns of a file that has only these at its line ends, as old Macs wrote, into line feeds. The first
// line outside of quotes decides.
type lineReader struct {
	r      *bufio.Reader
	quoted bool
	ends   lineEnd
}

// lineEnd is what ends the lines of a file.
type lineEnd int

const (
	unknownEnd lineEnd = iota
	lineFeed           // with or without a carriage return before
	carriageReturn
)

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := range p[:n] {
		if l.ends == lineFeed {
			break
		}
		p[i] = l.byte(p[i], p[i+1:n])
	}
	return n, err
}

// byte returns c, or a line feed in its place. rest begins with the next byte, unless the reader does.
func (l *lineReader) byte(c byte, rest []byte) byte {
	if l.ends == unknownEnd {
		switch {
		case c == '"':
			l.quoted = !l.quoted
		case c == '\n' && !l.quoted:
			l.ends = lineFeed
		case c == '\r' && !l.quoted:
			l.ends = lineFeed
			if len(rest) == 0 {
				rest, _ = l.r.Peek(1)
			}
			if len(rest) == 0 || rest[0] != '\n' {
				l.ends = carriageReturn
			}
		}
	}
	if c == '\r' && l.ends == carriageReturn {
		return '\n'
	}
	return c
}

// skip reads a line.
func (l *lineReader) skip() error {
	for {
		c, err := l.r.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if l.byte(c, nil) == '\n' {
			return nil
		}
	}
}

// checkText returns an error for a field that is not text in UTF-8.
func (s source) checkText(field string, line int) error {
	switch {
	case strings.Contains(field, "\x00"):
		return s.bad(atLine(line), "a zero byte in "+quoted(field), `text; for UTF-16 without a mark set CSVOptions{Encoding: "utf-16"}`)
	case !utf8.ValidString(field):
		return s.bad(atLine(line), "bytes that are not UTF-8 in "+quoted(field), `UTF-8, or the file's encoding, such as CSVOptions{Encoding: "latin1"}`)
	}
	return nil
}
