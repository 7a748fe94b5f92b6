package yaegi

import "testing"

// TestRunIDField checks the unexported field of Yaegi that Halt uses. If it fails after an
// upgrade, endless recursion takes seconds to end; nothing else changes.
func TestRunIDField(t *testing.T) {
	if runID == nil || runID.Offset != 0 || runID.Type.String() != "uint64" {
		t.Errorf("got field id %+v of interp.Interpreter, want a uint64 at offset 0", runID)
	}
}
