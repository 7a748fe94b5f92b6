package interp

import (
	"io"
	"os"

	"halfnote/interp/internal/live"
)

// stdFile is os.Stdin, os.Stdout or os.Stderr where a cell uses it as a reader or
// writer. Its input and output belong to the cell of the calling goroutine or, for
// goroutines outside cells, to the cell that named it.
type stdFile struct {
	*os.File // for code that inspects the type
	s        *stdio
	n        int
	named    *live.Cell
}

// standard returns the functions that return standard streams to cells.
func (s *stdio) standard(n int) func() *stdFile {
	return func() *stdFile {
		f := &stdFile{s: s, n: n, named: s.live.Current()}
		if v := s.variable("os", stdNames[n]); v.IsValid() {
			f.File = v.Interface().(*os.File)
		}
		return f
	}
}

// own returns the file that the cell has assigned to the stream, or nil.
func (f *stdFile) own() *os.File {
	if f.File == f.s.files[f.n] {
		return nil
	}
	return f.File
}

func (f *stdFile) stream() io.Writer {
	c := f.s.live.Of(f.named)
	if f.n == 2 {
		return c.Stderr()
	}
	return c.Stdout()
}

func (f *stdFile) Read(p []byte) (int, error) {
	if f.n != 0 || f.own() != nil {
		return f.File.Read(p)
	}
	return f.s.in.read(f.s.live.Of(f.named), p)
}

func (f *stdFile) Write(p []byte) (int, error) {
	if f.n == 0 || f.own() != nil {
		return f.File.Write(p)
	}
	f.s.flush()
	return f.stream().Write(p)
}

func (f *stdFile) WriteString(text string) (int, error) { return f.Write([]byte(text)) }

// ReadFrom and WriteTo hide those of the file, which bypass Write and Read.
func (f *stdFile) ReadFrom(r io.Reader) (int64, error) { return io.Copy(writerOnly{f}, r) }

func (f *stdFile) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, readerOnly{f}) }

// Close does nothing: the next cell needs the streams.
func (f *stdFile) Close() error {
	if file := f.own(); file != nil {
		return file.Close()
	}
	return nil
}

type (
	writerOnly struct{ io.Writer }
	readerOnly struct{ io.Reader }
)
