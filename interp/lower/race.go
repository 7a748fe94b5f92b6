//go:build race

package lower

// raced reports that the race detector is on. Code then polls for interrupts by calls,
// instead of reading a variable that another goroutine may write at that moment, and
// does not mark its lines, because goroutines that run the same function mark them in
// the same variable.
const raced = true
