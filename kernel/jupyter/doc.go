// Package jupyter serves a kernel to Jupyter's servers and clients: it is the [kernel.Transport] of a connection
// file, ZeroMQ sockets and signed messages, with a database of cells and the process in which all of this runs.
//
// Control and heartbeat never wait for a cell. A front end that reads nothing while 64 MiB are queued for it is
// disconnected.
//
// Clients of one jupyter_client KernelManager share an identity. As in ipykernel, the newest is served on shell,
// control and stdin, including a client that returns after its connection broke silently. Identities are visible
// on iopub, so a new peer is on probation until it sends a signed message. Until then the previous client still
// gets its replies, and can reclaim the identity by sending a signed message itself.
//
// The sources of cells are kept in an SQLite file; see [HistoryFile]. The file holds at most the last 10,000
// cells and 8 MiB. Without a file, only the cells of the current session are kept.
//
// The same file keeps the outputs of at most 1,000 cells and 64 MiB, which outlast a kernel that ended.
package jupyter
