package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
)

// Reading of a program's bytes.

// byte reads one byte.
func (m *pickle) byte() (byte, error) {
	if m.left == 0 {
		_, err := m.bytes(1)
		return 0, err
	}
	c, err := m.r.ReadByte()
	if err != nil {
		return 0, m.bad("the end of the file", "a complete program")
	}
	m.at++
	m.left--
	return c, nil
}

// bytes reads n bytes. It checks that the file has them before it allocates memory.
func (m *pickle) bytes(n uint64) ([]byte, error) {
	if n > uint64(m.left) {
		return nil, m.bad(fmt.Sprintf("%d bytes requested, %d left", n, m.left), fmt.Sprintf("a complete program of at most %d MB", mostPickle>>20))
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(m.r, p); err != nil {
		return nil, m.bad("the end of the file", "a complete program")
	}
	m.at += int64(n)
	m.left -= int64(n)
	return p, nil
}

// unsigned reads a little-endian number of n bytes.
func (m *pickle) unsigned(n int) (uint64, error) {
	var room [8]byte
	p, err := m.bytes(uint64(n))
	copy(room[:], p)
	return binary.LittleEndian.Uint64(room[:]), err
}

// counted reads bytes preceded by their number, which takes n bytes.
func (m *pickle) counted(n int) ([]byte, error) {
	size, err := m.unsigned(n)
	if err != nil {
		return nil, err
	}
	return m.bytes(size)
}

// line reads a line and returns it without the line feed.
func (m *pickle) line() (string, error) {
	var p []byte
	for {
		c, err := m.byte()
		if err != nil || c == '\n' {
			return string(p), err
		}
		if p = append(p, c); len(p) > 1<<16 {
			return "", m.bad("a line of more than 64 kB", "shorter ones")
		}
	}
}

// long decodes a little-endian number in two's complement.
func long(p []byte) any {
	x := new(big.Int).SetBytes(reversed(p))
	if len(p) > 0 && p[len(p)-1] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	return narrowed(x)
}

// narrowed returns x as an int if it fits.
func narrowed(x *big.Int) any {
	if x.IsInt64() && x.Int64() >= math.MinInt && x.Int64() <= math.MaxInt {
		return int(x.Int64())
	}
	return x
}
