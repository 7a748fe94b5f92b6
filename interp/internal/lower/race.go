//go:build race

package lower

// raced reports whether the race detector is on. Code then polls for interrupts by calls,
// instead of reading a variable that another goroutine may write at that moment. It does not
// mark its lines, because goroutines that run the same function share the variable for the
// mark.
const raced = true
