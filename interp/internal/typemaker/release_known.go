//go:build !go1.28

package typemaker

// known reports whether the structures of this package are those of the release that builds it.
const known = true
