// Package curve implements the cryptography of CurveZMQ
// (https://rfc.zeromq.org/spec/26): keys, the handshake of both sides, and the messages
// that follow it. It neither reads nor writes connections.
//
//	client              server
//	Hello       ──▶     Welcome
//	Initiate    ◀──
//	            ──▶     Accept, Ready
//	Finish      ◀──
//	Session     ◀─▶     Session
//
// A client proves with its first command that it knows the server's public key; Jupyter
// uses this as the permission to connect, and so keeps the public key secret too. Each
// connection has transient keys: messages that were recorded cannot be read with a pair
// of keys that leaks later.
//
// The secret of two keys is computed by package crypto/ecdh, which rejects public keys of
// low order. Package nacl/box accepts them; with such a key, anyone could form a valid first
// command.
package curve
