// Package kernel speaks the Jupyter messaging protocol for an [Evaluator].
//
// It knows connection files, ZeroMQ sockets, signed messages, who is to be
// answered what and when; it knows nothing of Go evaluation. Control and
// heartbeat never wait for a cell, and no message from outside, however
// malformed, ends the process.
package kernel
