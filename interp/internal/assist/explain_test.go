package assist

import (
	"go/token"
	"testing"
)

// TestKeywordsAreExplained checks that every keyword of Go has an explanation.
func TestKeywordsAreExplained(t *testing.T) {
	n := 0
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		if !tok.IsKeyword() {
			continue
		}
		n++
		if k := keywords[tok.String()]; k[0] == "" || k[1] == "" {
			t.Errorf("%s is not explained", tok)
		}
	}
	if n != len(keywords) {
		t.Errorf("got %d explanations, want %d", len(keywords), n)
	}
}
