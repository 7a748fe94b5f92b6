// Package notebooks holds the lessons: Jupyter notebooks with their outputs.
package notebooks

import "embed"

// Files holds the executed lessons, NN-name.ipynb.
//
//go:embed [0-9][0-9]-*.ipynb
var Files embed.FS
