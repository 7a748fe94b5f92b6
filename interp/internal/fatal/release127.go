//go:build go1.27

package fatal

// assists are the functions by which a goroutine that allocates helps the collector: one for each way to allocate small objects, and one for the rest.
var assists = []string{
	"runtime.deductAssistCredit", "runtime.mallocgcTinySlowPath", "runtime.mallocgcSmallScanSlowPath", "runtime.mallocgcSmallNoScanSlowPath",
}

// end stops the goroutine of a panic that has passed all deferred functions, for ever: Goexit finds no frame there from Go 1.27 on. The
// goroutine keeps its stack.
func end() { select {} }
