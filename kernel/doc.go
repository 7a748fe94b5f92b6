// Package kernel implements the Jupyter messaging protocol for an [Evaluator].
//
// It handles the order, the meaning and the addressees of messages. It does not evaluate cells itself, and does
// not know how messages travel: a [Transport] carries them. Package halfnote/kernel/jupyter has the one of
// Jupyter's servers, with ZeroMQ sockets in a separate process. Control never waits for a cell, and no message
// from outside, however malformed, ends the process.
//
// Further methods of an evaluator add features: [Completer] completes and explains names, [CommUser] connects
// widgets, [VariableLister] fills the variable panel, and [Debugger] stops cells at breakpoints. Only a kernel
// with a Debugger announces that it supports debugging; JupyterLab then shows its debugger panel, which includes
// the variables. The kernel implements the debug adapter protocol itself.
//
// Cells run one at a time. A cell sent to a subshell is not rejected: it waits for the running cell, and its
// subshell waits with it. All other requests on a subshell, and all comm messages, are handled while a cell
// runs.
//
// Output is never dropped for its volume: a cell that prints waits while even the fastest front end is slow to
// read. An interrupted cell waits at most a tenth of a second more. A transport may disconnect a front end that
// reads nothing. The cell shows a notice of either loss; a disconnected front end gets it when it reconnects.
//
// The kernel speaks protocol 5.5. Version 5.6 adds only a handshake in which the kernel chooses its ports and
// reports them. It is not offered because no client can ask for it: jupyter_client up to 8.10 writes connection
// files only.
//
// A [History] keeps the sources of cells. Silent cells and cells that a front end excludes from history are not
// kept. If it is also a [KeptOutputs], it keeps the outputs of cells, so that they outlast a front end that was
// closed: the newest 8 MiB of each cell. Outputs of a running cell are written every two seconds.
package kernel
