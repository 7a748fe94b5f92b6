// Package client is a Jupyter client over ZeroMQ: it starts a kernel process,
// runs cells on it and collects their outputs.
package client
