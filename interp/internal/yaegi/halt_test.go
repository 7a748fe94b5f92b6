package yaegi

import "testing"

// Halt needs a field that Yaegi does not export. If this fails after an upgrade,
// endless recursion takes seconds to end, and nothing else is lost.
func TestRunID(t *testing.T) {
	if runID == nil || runID.Offset != 0 || runID.Type.String() != "uint64" {
		t.Errorf("got field id %+v of interp.Interpreter, want a uint64 at offset 0", runID)
	}
}
