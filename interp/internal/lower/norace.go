//go:build !race

package lower

const raced = false
