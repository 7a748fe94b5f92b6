package jupyter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"halfnote/kernel"
)

func parts(frames ...string) [][]byte {
	var out [][]byte
	for _, f := range frames {
		out = append(out, []byte(f))
	}
	return out
}

// signed returns frames that c signed, around a header as given.
func signed(c *Codec, header, parent string) [][]byte {
	body := parts(header, parent, "{}", "{}")
	return append(parts("peer", delimiter, string(c.sign(body))), body...)
}

func TestDecodeRefuses(t *testing.T) {
	const good = `{"msg_id":"1","msg_type":"x"}`
	c := NewCodec("key")
	for _, tt := range []struct {
		name   string
		frames [][]byte
		want   string
	}{
		{"nothing", nil, "no <IDS|MSG> among 0 frames"},
		{"no delimiter", parts("a", "b", "c", "d", "e", "f"), "no <IDS|MSG> among 6 frames"},
		{"delimiter alone", parts(delimiter), "0 frames after <IDS|MSG>, want 5 or more"},
		{"part missing", parts("peer", delimiter, "sig", good, "{}", "{}"), "4 frames after <IDS|MSG>, want 5 or more"},
		{"wrong signature", append(parts("peer", delimiter, strings.Repeat("0", 64)), parts(good, "{}", "{}", "{}")...), "wrong signature"},
		{"no signature", append(parts("peer", delimiter, ""), parts(good, "{}", "{}", "{}")...), "wrong signature"},
		{"other key", signed(NewCodec("other"), good, "{}"), "wrong signature"},
		{"not JSON", signed(c, "notjson", "{}"), "header: not a JSON object"},
		{"list", signed(c, "[]", "{}"), "header: not a JSON object"},
		{"null", signed(c, "null", "{}"), "header: not a JSON object"},
		{"cut short", signed(c, `{"msg_id":"1"`, "{}"), "header: unexpected end of JSON input"},
		{"no msg_type", signed(c, `{"msg_id":"1"}`, "{}"), "header: msg_id or msg_type is missing"},
		{"numbers", signed(c, `{"msg_id":1,"msg_type":2}`, "{}"), "header: json: cannot unmarshal number"},
		{"not UTF-8", signed(c, "{\"msg_id\":\"\xff\",\"msg_type\":\"x\"}", "{}"), "header: not UTF-8"},
		{"deep", signed(c, `{"msg_id":"1","msg_type":"x","y":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+"}", "{}"), "header: nesting exceeds 32 levels"},
		{"long", signed(c, `{"msg_id":"1","msg_type":"`+strings.Repeat("x", 64<<10)+`"}`, "{}"), "header: 65564 bytes, the limit is 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Decode(tt.frames)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s…", err, tt.want)
			}
		})
	}
}

func TestDecodeKeepsUnknownFields(t *testing.T) {
	c := NewCodec("key")
	header := `{"msg_id":"1", "msg_type":"execute_request","subshell_id":"s","new":[1]}`
	for _, parent := range []string{"{}", "null", "", "garbage"} {
		m, err := c.Decode(append(signed(c, header, parent), parts("buffer one", "")...))
		if err != nil {
			t.Fatalf("parent %q: %v", parent, err)
		}
		if string(m.Header.JSON()) != header || m.Parent.ID != "" || len(m.Buffers) != 2 || string(m.Prefix[0]) != "peer" {
			t.Errorf("parent %q: got %+v", parent, m)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	for _, key := range []string{"", "key"} {
		to, from := NewCodec(key), NewCodec(key)
		s := kernel.NewSession("me")
		h := s.Header("a")
		in := kernel.Message{Prefix: parts("topic"), Header: s.Header("b"), Parent: h, Content: json.RawMessage(`{"x":"<é>"}`), Buffers: parts("raw")}
		out, err := from.Decode(to.Encode(in))
		if err != nil {
			t.Fatal(err)
		}
		if out.Header.ID != in.Header.ID || out.Parent.ID != h.ID || !bytes.Equal(out.Content, in.Content) || string(out.Metadata) != "{}" || string(out.Buffers[0]) != "raw" {
			t.Errorf("key %q: got %+v, want %+v", key, out, in)
		}
	}
}

func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: fills the table of signatures")
	}
	c := NewCodec("key")
	message := func(i int) [][]byte { return signed(c, fmt.Sprintf(`{"msg_id":"%d","msg_type":"x"}`, i), "{}") }
	for i := range maxSeen {
		if _, err := c.Decode(message(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Decode(message(0)); err == nil || err.Error() != "repeated signature" {
		t.Errorf("the oldest message again: got error %v, want repeated signature", err)
	}
	if _, err := c.Decode(message(maxSeen)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Decode(message(0)); err != nil {
		t.Errorf("a message whose signature was forgotten: got error %v, want none", err)
	}
	if len(c.seen) != maxSeen || len(c.ring) != maxSeen {
		t.Errorf("got %d and %d signatures in the tables, want %d", len(c.seen), len(c.ring), maxSeen)
	}
}

func TestUnsignedIsNotChecked(t *testing.T) {
	c := NewCodec("")
	for range 2 { // without signatures, repeated messages cannot be detected
		if _, err := c.Decode(append(parts(delimiter, "whatever"), parts(`{"msg_id":"1","msg_type":"x"}`, "{}", "{}", "{}")...)); err != nil {
			t.Error(err)
		}
	}
}

// FuzzDecode checks that Decode does not panic, and that a header it accepts, which all
// subscribers may get as a parent header, is valid JSON.
func FuzzDecode(f *testing.F) {
	f.Add("peer", delimiter, `{"msg_id":"1","msg_type":"x"}`, `{"msg_id":"0","msg_type":"y"}`)
	f.Add(delimiter, "", `{"msg_id":"\ud800","msg_type":"x","a":[[{}]]}`, "null")
	f.Add("", delimiter, `{"msg_id":"1","msg_type":"x"} {}`, `{"msg_id":"\\\"]`)
	f.Fuzz(func(t *testing.T, a, b, header, parent string) {
		c := NewCodec("")
		m, err := c.Decode(append(parts(a, b, ""), parts(header, parent, "{}", "{}")...))
		if err != nil {
			return
		}
		again, err := c.Decode(c.Encode(kernel.Message{Header: m.Header, Parent: m.Header, Content: m.Content}))
		if err != nil || again.Parent.ID != m.Header.ID || !json.Valid(m.Header.JSON()) || !json.Valid(m.Parent.JSON()) {
			t.Errorf("%q: %v", header, err)
		}
	})
}
