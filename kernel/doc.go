// Package kernel implements the Jupyter messaging protocol for an [Evaluator].
//
// It handles connection files, ZeroMQ sockets, signed messages, and the order and
// addressees of replies. It does not evaluate cells itself. Control and heartbeat never
// wait for a cell, and no message from outside, however malformed, ends the process.
//
// Further methods of an evaluator add features: [Completer] completes and explains
// names, [CommUser] connects widgets, [VariableLister] fills the variable panel, and
// [Debugger] stops cells at breakpoints. Only a kernel with a Debugger announces that
// it supports debugging; JupyterLab then shows its debugger panel, which includes the
// variables. The kernel implements the debug adapter protocol itself.
//
// Cells run one at a time. A cell sent to a subshell is not rejected: it waits for the
// running cell, and its subshell waits with it. All other requests on a subshell, and
// all comm messages, are handled while a cell runs.
//
// Output is never dropped for its volume: a cell that prints waits while even the
// fastest front end is slow to read. Two limits bound the wait. An interrupted cell
// waits at most a tenth of a second more, and a front end that reads nothing while 64
// MiB are queued for it is disconnected. The cell shows a notice of either loss; a
// disconnected front end gets it when it reconnects.
//
// Clients of one jupyter_client KernelManager share an identity. As in ipykernel, the
// newest is served on shell, control and stdin, including a client that returns after
// its connection broke silently. Identities are visible on iopub, so a new peer is on
// probation until it sends a signed message. Until then the previous client still gets
// its replies, and can reclaim the identity by sending a signed message itself.
//
// The kernel speaks protocol 5.5. Version 5.6 adds only a handshake in which the kernel
// chooses its ports and reports them. It is not offered because no client can ask for
// it: jupyter_client up to 8.10 writes connection files only.
//
// The sources of cells are kept in an SQLite file; see [HistoryFile]. Silent cells and
// cells that a front end excludes from history are not kept. The file holds at most the
// last 10,000 cells and 8 MiB. Without a file, only the cells of the current session
// are kept.
//
// The same file keeps the outputs of cells, so that they outlast a browser that was closed
// and a kernel that ended: the newest 8 MiB of each cell, of at most 1,000 cells and 64
// MiB. An evaluator reads them through [KeptOutputs]. Outputs of a running cell are
// written every two seconds.
package kernel
