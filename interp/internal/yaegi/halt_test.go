package yaegi

import "testing"

// Halt needs a field that Yaegi does not export. If this test fails after an upgrade,
// endless recursion takes seconds to end; there is no other loss.
func TestRunID(t *testing.T) {
	if runID == nil || runID.Offset != 0 || runID.Type.String() != "uint64" {
		t.Errorf("got field id %+v of interp.Interpreter, want a uint64 at offset 0", runID)
	}
}
