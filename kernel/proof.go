package kernel

// proves reports whether frames, as a client sends them, are a message by which
// the client may have the identity that it came with: they are signed, they were
// not received before, and they do not come from this kernel, whose own messages
// anyone can copy from iopub. Without a key every well-formed message is a proof.
func (k *kernel) proves(frames [][]byte) bool {
	_, signature, body, err := split(frames)
	if err != nil || k.codec.verify(signature, body) != nil || k.codec.received(signature) {
		return false
	}
	h, err := parseHeader(body[0])
	return err == nil && h.Session != k.session.ID
}
