// Package notebooks holds the lessons: Jupyter notebooks with their outputs.
package notebooks

import "embed"

// Files holds the executed lessons, NN-name.ipynb.
//
//go:embed *.ipynb
var Files embed.FS
