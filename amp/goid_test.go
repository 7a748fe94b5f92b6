package amp_test

import (
	"testing"

	"halfnote/internal/testenv"
)

// TestSlowIdentity runs tests where goroutines are identified by runtime.Stack.
func TestSlowIdentity(t *testing.T) { testenv.SlowIdentity(t, "Region|NestedPrecisions") }
