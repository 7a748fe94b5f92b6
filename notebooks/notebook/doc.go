// Package notebook reads, runs and writes Jupyter notebooks without Jupyter.
//
// [Read] and [Notebook.Write] keep everything that a notebook file holds, also
// what they do not know; [Run] executes the code cells on a kernel and stores
// what they show; [HTML] makes a page of it that needs no network; [RunFiles] is
// all three, for the command line.
//
// It knows the file format and what a front end does with a kernel's messages.
// It knows nothing of sockets, which are package client's, nor of Go evaluation.
package notebook
