// Package kernel speaks the Jupyter messaging protocol for an [Evaluator].
//
// It knows connection files, ZeroMQ sockets, signed messages, who is to be
// answered what and when; it knows nothing of Go evaluation. Control and
// heartbeat never wait for a cell, and no message from outside, however
// malformed, ends the process.
//
// An evaluator that can do more than run cells says so by its methods:
// [Completer] completes and explains names, [CommUser] talks with widgets,
// [VariableLister] fills the variable panel, [Debugger] stops cells at breakpoints. Only
// with the last does the kernel say that it can be debugged: JupyterLab then shows its
// panel, with the variables in it. The kernel answers the debug adapter protocol itself.
//
// Cells run one at a time. A cell that a front end sends to a subshell waits for
// the one that runs; it is not refused, and its subshell waits with it.
// Everything else on a subshell, and the messages of comms with or without one,
// is handled while a cell runs.
//
// Output is never dropped for being much: a cell that prints waits while even the
// fastest front end is slow to read. Two things bound that. An interrupted cell waits a
// tenth of a second more, and a front end that has read nothing while 64 MiB piled
// up for it is cut off. Both are said in the cell, the second when the front end is back.
//
// Clients of one jupyter_client KernelManager share an identity. The newest is served
// on shell, control and stdin, as by ipykernel: so is a client that returns after its
// connection broke without a word. Anyone can learn an identity, from iopub, so a
// newcomer is on probation until it sends a signed message. Until then the client
// before it still gets its replies, and takes the identity back by sending one itself.
//
// The protocol spoken is 5.5. Version 5.6 adds one thing, a handshake in which the
// kernel chooses its ports and reports them. It is not offered, as no client can
// ask for it: jupyter_client up to 8.10 writes connection files only.
//
// The sources of cells are kept in an SQLite file; see [HistoryFile]. Silent cells
// and those that a front end wants left out are not. At most the last 10,000 cells
// and 8 MiB are kept, and without the file only those of the session.
package kernel
