package data

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// The layout of a safetensors file, by https://huggingface.co/docs/safetensors: the length of
// the header in 8 bytes, the header in JSON, the tensors' bytes.

// mostHeader is the largest length of a header: MAX_HEADER_SIZE in safetensors/src/tensor.rs.
const mostHeader = 100_000_000

// entry is a header's entry for a tensor.
type entry struct {
	kind       *element
	shape      []int
	begin, end int64 // range in the data
}

// readHeader reads and checks the header of a file of the given size.
func (s *Safetensors) readHeader(size int64) error {
	var length [8]byte
	if size < 8 {
		return s.bad(atByte(0), fmt.Sprintf("a file of %d bytes", size), "at least the 8 bytes of the header's length")
	}
	if _, err := s.file.ReadAt(length[:], 0); err != nil {
		return s.fail(err)
	}
	if isTorch(s.file) {
		return s.bad(atByte(0), "a zip archive or a pickle, such as PyTorch's", "a safetensors file; Load and LoadTorch read .pt and .pth")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if most := uint64(min(size-8, mostHeader)); n > most || n < 2 {
		want := fmt.Sprintf("2 to %d, in a file of %d bytes", most, size)
		var start [1]byte
		if s.file.ReadAt(start[:], 8); start[0] != '{' {
			want += "; this is neither a safetensors file nor one that PyTorch writes"
		}
		return s.bad(atByte(0), fmt.Sprintf("a header length of %d", n), want)
	}
	text := make([]byte, n)
	if _, err := s.file.ReadAt(text, 8); err != nil {
		return s.fail(err)
	}
	s.start = 8 + int64(n)
	if text[0] != '{' {
		return s.bad(atByte(8), quoted(text[:1]), "'{'")
	}
	if !utf8.Valid(text) {
		return s.bad(atByte(8), "a header that is not UTF-8", "JSON in UTF-8")
	}
	if err := s.parseHeader(text); err != nil {
		return err
	}
	return s.checkCover(size - s.start)
}

// parseHeader reads the JSON.
func (s *Safetensors) parseHeader(text []byte) error {
	s.entries = map[string]entry{}
	p := parser{json.NewDecoder(bytes.NewReader(text))}
	p.UseNumber()
	err := p.object(func(name string) error {
		if name == "__metadata__" {
			s.meta = map[string]string{}
			return p.object(func(key string) (err error) {
				s.meta[key], err = p.text()
				return err
			})
		}
		e, err := p.entry()
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoted(name), err)
		}
		s.entries[name] = e
		return nil
	})
	if err == nil {
		if _, more := p.Decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("data after the object")
		}
	}
	if err != nil {
		return s.bad(atByte(8+p.InputOffset()), err.Error(), "an object of tensors with dtype, shape and data_offsets")
	}
	return nil
}

// checkCover sets the names in the order of the data. It returns an error unless the tensors
// cover the data without gaps or overlaps.
func (s *Safetensors) checkCover(size int64) error {
	s.names = slices.SortedFunc(maps.Keys(s.entries), func(a, b string) int {
		x, y := s.entries[a], s.entries[b]
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end), strings.Compare(a, b))
	})
	at := int64(0)
	for _, name := range s.names {
		e := s.entries[name]
		where := fmt.Sprintf("tensor %s", quoted(name))
		if e.begin != at {
			return s.bad(where, fmt.Sprintf("data_offsets [%d, %d]", e.begin, e.end), fmt.Sprintf("a start at %d, where the previous tensor ends", at))
		}
		n, ok := count(e.shape, 1<<58)
		at = e.end
		if e.kind.bits == 0 && ok {
			continue
		}
		if want := n * int64(e.kind.bits); !ok || want%8 != 0 || e.end-e.begin != want/8 {
			return s.bad(where, fmt.Sprintf("%d bytes for shape %s of %s", e.end-e.begin, text.Shape(e.shape), e.kind.name), fmt.Sprintf("%d", want/8))
		}
	}
	if at != size {
		return s.bad("header", fmt.Sprintf("%d bytes of data", size), fmt.Sprintf("%d, where the last tensor ends", at))
	}
	return nil
}

// parser reads JSON strictly: names are distinct, and types are exact.
type parser struct{ *json.Decoder }

// errEnd is the error where a text ends early; what the decoder says there depends on the release of Go.
var errEnd = errors.New("the end of the text")

// Token returns the next token, or errEnd.
func (p parser) Token() (json.Token, error) {
	t, err := p.Decoder.Token()
	var syntax *json.SyntaxError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		err = errEnd
	}
	return t, err
}

// object calls field for each name of an object; field reads the value.
func (p parser) object(field func(name string) error) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.More() {
		name, err := p.text()
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("the name %s twice", quoted(name))
		}
		seen[name] = true
		if err := field(name); err != nil {
			return err
		}
	}
	return p.delim('}')
}

func (p parser) delim(want json.Delim) error {
	t, err := p.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%v instead of %v", t, want)
	}
	return err
}

func (p parser) text() (string, error) {
	t, err := p.Token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%v instead of a string", t)
	}
	return s, nil
}

// numbers reads a list of nonnegative integers.
func (p parser) numbers() (list []int, err error) {
	if err := p.delim('['); err != nil {
		return nil, err
	}
	list = []int{}
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return nil, err
		}
		number, _ := t.(json.Number)
		n, err := strconv.ParseUint(string(number), 10, 62)
		if err != nil {
			return nil, fmt.Errorf("%v instead of a nonnegative integer", t)
		}
		list = append(list, int(n))
	}
	return list, p.delim(']')
}

// entry reads the header's entry for a tensor.
func (p parser) entry() (e entry, err error) {
	var offsets []int
	err = p.object(func(name string) (err error) {
		switch name {
		case "dtype":
			var kind string
			if kind, err = p.text(); err == nil {
				if e.kind = elementNamed(kind); e.kind == nil {
					e.kind = &element{name: kind} // of a later version of the format; other tensors can be read
				}
			}
		case "shape":
			e.shape, err = p.numbers()
		case "data_offsets":
			offsets, err = p.numbers()
		default:
			err = fmt.Errorf("the field %s", quoted(name))
		}
		return err
	})
	switch {
	case err != nil:
	case e.kind == nil || e.shape == nil:
		err = errors.New("a missing dtype or shape")
	case len(offsets) != 2 || offsets[0] > offsets[1]:
		err = fmt.Errorf("data_offsets %s", text.Shape(offsets))
	default:
		e.begin, e.end = int64(offsets[0]), int64(offsets[1])
	}
	return e, err
}

// header returns the JSON for tensors, padded with spaces to a multiple of 8, and their names
// in the order of the data: wide types first, so that every tensor is aligned, then by name.
func header(tensors map[string]*tensor.Tensor, metadata map[string]string) ([]byte, []string, error) {
	rank := func(name string) int {
		kind := exactly(tensors[name].DType())
		return -slices.IndexFunc(elements, func(e element) bool { return e.name == kind.name })
	}
	for name, t := range tensors {
		if t == nil || name == "__metadata__" || !utf8.ValidString(name) {
			return nil, nil, fmt.Errorf("tensor %s is nil, or its name is not valid UTF-8 or is __metadata__", quoted(name))
		}
	}
	names := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	var fields []string
	if metadata != nil {
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			texts = append(texts, asJSON(key)+":"+asJSON(metadata[key]))
		}
		fields = append(fields, `"__metadata__":{`+strings.Join(texts, ",")+"}")
	}
	at := 0
	for _, name := range names {
		t := tensors[name]
		shape := strings.Join(strings.Fields(fmt.Sprint(t.Shape())), ",")
		fields = append(fields, fmt.Sprintf(`%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, asJSON(name), exactly(t.DType()).name, shape, at, at+t.Bytes()))
		at += t.Bytes()
	}
	h := []byte("{" + strings.Join(fields, ",") + "}")
	for len(h)%8 != 0 {
		h = append(h, ' ')
	}
	if len(h) > mostHeader {
		return nil, nil, fmt.Errorf("a header of %d bytes; want at most %d", len(h), mostHeader)
	}
	return h, names, nil
}

// asJSON returns s as JSON, without unnecessary escapes.
func asJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return strings.TrimSpace(b.String())
}
