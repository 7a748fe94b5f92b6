package typemaker

import "unsafe"

// unsafeAdd returns the address of a word of a description.
func unsafeAdd(c *common, words int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(c), words*int(wordSize))
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
