// Package notebook reads, runs and writes Jupyter notebooks without Jupyter.
//
// [Read] and [Notebook.Write] keep everything in a notebook file, including fields that
// they do not know. [Run] executes the code cells on a kernel and stores their outputs.
// [HTML] makes a page that needs no network. [RunFiles] does all three for the command line.
//
// It knows the file format and how a front end treats a kernel's messages. It knows
// nothing of sockets, which belong to package client, nor of Go evaluation.
package notebook
