package install

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestRemind(t *testing.T) {
	r, w := io.Pipe()
	stop := remind(w, time.Millisecond)
	line := make([]byte, 100)
	for range 2 {
		n, err := r.Read(line)
		if got := string(line[:n]); err != nil || !strings.HasPrefix(got, "Still starting after ") {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	r.Close() // later lines fail at once
	stop()
	stop()
}
