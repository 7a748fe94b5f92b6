package guard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// longHeader is a header that announces n bytes.
func longHeader(flags byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{flags | flagLong}, n)
}

func TestReadFrame(t *testing.T) {
	long := strings.Repeat("b", 300)
	for _, tt := range []struct {
		name  string
		in    string
		flags byte
		body  string
		err   string
	}{
		{"empty", "\x00\x00", 0, "", ""},
		{"short", "\x01\x02hi", flagMore, "hi", ""},
		{"long", string(longHeader(0, 300)) + long, flagLong, long, ""},
		{"at the limit", string(longHeader(0, 1000)) + strings.Repeat("c", 1000), flagLong, strings.Repeat("c", 1000), ""},
		{"command", "\x04\x05\x04PING", flagCommand, "\x04PING", ""},
		{"nothing", "", 0, "", "EOF"},
		{"half a header", "\x02\x00\x00", 0, "", "unexpected EOF"},
		{"half a body", "\x00\x05abc", 0, "", "unexpected EOF"},
		{"no body", "\x00\x05", 0, "", "unexpected EOF"},
		{"above the limit", string(longHeader(0, 1001)), 0, "", "frame of 1001 bytes, the limit is 1000"},
		{"2^62", string(longHeader(0, 1<<62)), 0, "", "frame of 4611686018427387904 bytes"},
		{"2^64-1", string(longHeader(0, 1<<64-1)), 0, "", "frame of 18446744073709551615 bytes"},
		{"reserved bits", "\x08\x00", 0, "", "frame flags 0x08"},
		{"command with MORE", "\x05\x00", 0, "", "frame flags 0x05"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flags, body, err := readFrame(bufio.NewReader(strings.NewReader(tt.in)), 1000, nil)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("got error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || flags != tt.flags || string(body) != tt.body {
				t.Errorf("got flags %#x, %d bytes, %v, want %#x, %d bytes", flags, len(body), err, tt.flags, len(tt.body))
			}
		})
	}
}

func TestAnnouncedBytesTakeNoMemory(t *testing.T) {
	const announced = 1 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readFrame(bufio.NewReader(bytes.NewReader(longHeader(0, announced))), announced, nil)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes were allocated for a frame whose body never came, want at most 16 MiB", n)
	}
}

func TestReadBodyGrows(t *testing.T) {
	want := make([]byte, 5<<20+3)
	for i := range want {
		want[i] = byte(i * 7)
	}
	got, err := readBody(bytes.NewReader(want), len(want), nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want the %d that were sent", len(got), err, len(want))
	}
}

func TestTracker(t *testing.T) {
	messages := [][][]byte{
		{[]byte("READY")},
		{nil},
		{[]byte("a"), nil, make([]byte, 255)},
		{make([]byte, 256), make([]byte, 70_000), []byte("end")},
	}
	for seed := range uint64(50) {
		stream := greeting()
		ends := map[int]bool{} // of messages
		for _, m := range messages {
			stream = appendMessage(stream, m)
			ends[len(stream)] = true
		}
		rnd := rand.New(rand.NewPCG(1, seed))
		track := tracker{greeting: greetingSize}
		for at := 0; at < len(stream); {
			piece := stream[at:min(at+1+rnd.IntN(400), len(stream))]
			for len(piece) > 0 {
				n, end := track.take(piece)
				piece = piece[n:]
				at += n
				if got, want := end && !track.more, ends[at]; got != want {
					t.Fatalf("seed %d: end of a message after %d bytes: got %v, want %v", seed, at, got, want)
				}
				if got, want := track.between(), ends[at] || at == greetingSize; got != want {
					t.Fatalf("seed %d: between messages after %d bytes: got %v, want %v", seed, at, got, want)
				}
			}
		}
	}
}

func TestParseProperties(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     map[string]string
		err      string
	}{
		{"none", "", map[string]string{}, ""},
		{"two", "\x0bSOCKET-Type\x00\x00\x00\x03REQ\x08Identity\x00\x00\x00\x00", map[string]string{"socket-type": "REQ", "identity": ""}, ""},
		{"no name", "\x00\x00\x00\x00\x00", nil, "without a name"},
		{"ends in the name", "\x05Socke", nil, "ends inside a property"},
		{"ends in the length", "\x02ab\x00\x00\x00", nil, "ends inside a property"},
		{"ends in the value", "\x02ab\xff\xff\xff\xffx", nil, "4294967295 bytes announced, 1 present"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseProperties([]byte(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
			for k, v := range tt.want {
				if got[k] != v {
					t.Errorf("property %s: got %q, want %q", k, got[k], v)
				}
			}
		})
	}
}
