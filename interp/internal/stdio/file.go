package stdio

import (
	"io"
	"os"
	"slices"

	"halfnote/interp/internal/live"
)

// File is os.Stdin, os.Stdout or os.Stderr where a cell uses it as a reader or
// writer. Its input and output belong to the cell of the calling goroutine or, for
// goroutines outside cells, to the cell that named it. A cell has one for each stream.
type File struct {
	*os.File // for code that inspects the type
	s        *Streams
	n        int
	named    *live.Cell
}

// Standard returns the function that returns standard stream n to cells: 0 is the input, 1 the output,
// 2 the error.
func (s *Streams) Standard(n int) func() *File {
	return func() *File {
		var file *os.File
		if v := s.variable("os", stdNames[n]); v.IsValid() {
			file = v.Interface().(*os.File)
		}
		return s.named(n, file)
	}
}

// named returns standard stream n, with the file that it is, for the running cell.
func (s *Streams) named(n int, file *os.File) *File {
	c := s.live.Current()
	if f, ok := c.Streams[n].Load().(*File); ok && f.File == file {
		return f
	}
	f := &File{file, s, n, c}
	c.Streams[n].Store(f)
	return f
}

// Stream returns the File of x for the running cell if x is the file of a standard stream, and otherwise x.
func (s *Streams) Stream(x any) any {
	file, ok := x.(*os.File)
	if !ok || file == nil {
		return x
	}
	if n := s.number(file); n >= 0 {
		return s.named(n, file)
	}
	return x
}

func (s *Streams) number(file *os.File) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.files[:], file)
}

// Bare returns the file that x is if x is a File, and otherwise x: code that looks at the type or compares sees a file.
func Bare(x any) any {
	if f, ok := x.(*File); ok {
		return f.File
	}
	return x
}

// own returns the file that the cell has assigned to the stream, or nil.
func (f *File) own() *os.File {
	if f.File == f.s.files[f.n] {
		return nil
	}
	return f.File
}

func (f *File) stream() io.Writer {
	c := f.s.live.Of(f.named)
	if f.n == 2 {
		return c.Stderr()
	}
	return c.Stdout()
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if f.n != 0 || f.own() != nil {
		return f.File.Read(p)
	}
	return f.s.in.read(f.s.live.Of(f.named), p)
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if f.n == 0 || f.own() != nil {
		return f.File.Write(p)
	}
	f.s.Flush()
	return f.stream().Write(p)
}

// WriteString implements io.StringWriter.
func (f *File) WriteString(text string) (int, error) { return f.Write([]byte(text)) }

// ReadFrom hides that of the file, which bypasses Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(writerOnly{f}, r) }

// WriteTo hides that of the file, which bypasses Read.
func (f *File) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, readerOnly{f}) }

// Close does nothing: the next cell needs the streams.
func (f *File) Close() error {
	if file := f.own(); file != nil {
		return file.Close()
	}
	return nil
}

type (
	writerOnly struct{ io.Writer }
	readerOnly struct{ io.Reader }
)
