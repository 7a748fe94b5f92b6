//go:build !go1.26 || go1.28

package object

// The numbers of other releases are not known. Package loader refuses their objects.

// InitOrder is the number of no relocation.
const InitOrder RelocType = 0

var builtins []string
