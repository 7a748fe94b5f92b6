//go:build go1.27

package fatal

// end stops the goroutine of a panic that has passed all deferred functions, for ever: Goexit finds no frame there from Go 1.27 on. The
// goroutine keeps its stack.
func end() { select {} }
