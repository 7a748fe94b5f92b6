//go:build race

package lower

// raced: the race detector watches. Code then asks for interrupts by calls, instead
// of reading what another goroutine may write at that moment, and does not mark its
// lines, which goroutines that run the same function do in the same variable.
const raced = true
