package interp

import (
	"encoding/base64"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"halfnote/display"
	"halfnote/kernel/eval"
)

// TestProfile profiles a cell with one heavy line, in a function of an earlier cell, and checks that the
// table and the flame graph name it, and that functions are compiled without stops afterwards.
func TestProfile(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, `import "crypto/sha256"
x := make([]byte, 1<<20)
func light(n int) int { return n + 1 }
func heavy(x []byte) int {
	sum := sha256.Sum256(x)
	return len(sum)
}`, "")
	out := &bundles{}
	r := s.Eval(t.Context(), eval.Cell{Code: `%%prun
for start, n := time.Now(), 0; time.Since(start) < 400 * time.Millisecond; {
	n = light(n)
	heavy(x)
}`, Count: 2}, out)
	if profiled() && r.Err != nil && strings.Contains(r.Err.Value, "profiling already in use") {
		t.Skip(r.Err.Value)
	}
	if r.Err != nil || len(out.list) != 2 {
		t.Fatalf("got %d displays and the error %v, want a table and a picture", len(out.list), r.Err)
	}
	table := fmt.Sprint(out.list[0].Data["text/plain"])
	lines := strings.Split(table, "\n")
	if want := regexp.MustCompile(`\d+ % +█+ .*In\[1\], line 5 +sum := sha256\.Sum256\(x\) +sha256\.Sum256`); len(lines) < 3 || !want.MatchString(lines[1]) {
		t.Errorf("got the table\n%s\nwant %s in its first row", table, want)
	}
	if !strings.Contains(table, "In[2], line 4") {
		t.Errorf("got the table\n%s\nwant the calling line In[2], line 4 in it", table)
	}
	title := fmt.Sprint(out.list[1].Data["text/plain"])
	if !regexp.MustCompile(`^Flame graph of .* In\[1\], line 5 takes \d+ %, mostly in sha256\.Sum256.*\.$`).MatchString(title) {
		t.Errorf("got the title %q", title)
	}
	page := fmt.Sprint(out.list[1].Data["text/html"])
	_, data, _ := strings.Cut(page, "base64,")
	data, _, _ = strings.Cut(data, `"`)
	svg, err := base64.StdEncoding.DecodeString(data)
	for _, want := range []string{"<title>" + title, "In[1]:5 sum := sha256.Sum256(x)", "In[2]:4 heavy(x)", "sha256.Sum256"} {
		if err != nil || !strings.Contains(string(svg), want) {
			t.Errorf("the flame graph lacks %q: %v\n%s", want, err, svg)
		}
	}
	for _, src := range s.env.Sources() {
		if src.Stops {
			t.Errorf("%s still has the stops of the profile", src.Item.Text)
		}
	}
	if got := evalFor(t, s, 3, "light(4) + heavy(x)", ""); got != "= 37\n" {
		t.Errorf("after the profile: got %q, want 37", got)
	}
}

// TestProfileShort checks %prun without code, with code that is too short, and with code that fails.
func TestProfileShort(t *testing.T) {
	s := newSession(t)
	for i, c := range []struct{ code, want string }{
		{"%prun", "want a statement"},
		{"%prun 1 + 1", "ended before the first sample"},
		{"%prun []int{}[len(In[:0])]", "index out of range"},
	} {
		got := evalFor(t, s, i+1, c.code, "")
		if profiled() && strings.Contains(got, "profiling already in use") {
			t.Skip(got)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want a text that contains %q", c.code, got, c.want)
		}
	}
}

// bundles is an Output that keeps what is displayed.
type bundles struct {
	recorder
	list []display.Bundle
}

func (b *bundles) Display(d display.Bundle) { b.list = append(b.list, d) }

// profiled reports whether the tests themselves run under the profiler, which serves one user.
func profiled() bool { return flag.Lookup("test.cpuprofile").Value.String() != "" }
