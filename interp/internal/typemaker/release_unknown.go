//go:build go1.28

package typemaker

// known reports whether the structures of this package are those of the release that builds it. For
// a new release, run the tests: TestLayout tells what has changed. If nothing has, change the
// constraints of this file and of release_known.go.
const known = false
