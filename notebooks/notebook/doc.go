// Package notebook reads, runs and writes Jupyter notebooks without Jupyter.
//
// [Read] and [Notebook.Write] keep everything in a notebook file, including unknown fields.
// [Run] executes the code cells on a kernel and stores their outputs. [HTML] makes a page
// that needs no network. [RunFiles] does all three for the command line.
//
// It implements the file format and a front end's treatment of a kernel's messages. It
// does not depend on sockets, which belong to package client, or on Go evaluation.
package notebook
