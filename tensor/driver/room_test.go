package driver

import (
	"strings"
	"testing"
)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		n, size int
		says    string // part of the error, "" if there is room
	}{
		{0, 8, ""},
		{1 << 10, 8, ""},
		{1 << 10, 0, ""},
		{-3, 8, "-3 elements requested; want at least 0"},
		{1 << 47, 8, "1024.0 TiB requested"},
		{1 << 62, 8, "4611686018427387904 elements of 8 bytes requested, more than any machine has"},
	} {
		err := Room(c.n, c.size)
		if limit, _ := Limit(); limit == 0 && c.n == 1<<47 {
			continue
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("Room(%d, %d) = %v, want %q", c.n, c.size, err, c.says)
		}
	}
	limit, setBy := Limit()
	if limit > 0 && setBy == "" {
		t.Error("the source of the limit is empty")
	}
	if err := NoRoom(1<<40, -5); !strings.Contains(err.Error(), "0 bytes of ") || !strings.Contains(err.Error(), "raise the limit, which is "+setBy) {
		t.Error(err)
	}
}
