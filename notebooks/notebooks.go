// Package notebooks holds the course: notebooks that teach mixed precision, executed.
package notebooks

import "embed"

// Files holds the notebooks of the course, named NN-short-name.ipynb.
//
//go:embed *.ipynb
var Files embed.FS
