package stdio

import (
	"io"
	"os"

	"halfnote/interp/internal/live"
)

// File is os.Stdin, os.Stdout or os.Stderr where a cell uses it as a reader or
// writer. Its input and output belong to the cell of the calling goroutine or, for
// goroutines outside cells, to the cell that named it.
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
		f := &File{s: s, n: n, named: s.live.Current()}
		if v := s.variable("os", stdNames[n]); v.IsValid() {
			f.File = v.Interface().(*os.File)
		}
		return f
	}
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
