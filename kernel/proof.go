package kernel

// proves reports whether frames, as a client sends them, prove that the client may have
// its identity: the message is signed, was not received before, and was not sent by
// this kernel, whose own messages can be copied from iopub. Without a key every
// well-formed message is a proof.
func (k *kernel) proves(frames [][]byte) bool {
	_, signature, body, err := split(frames)
	if err != nil || k.codec.verify(signature, body) != nil || k.codec.received(signature) {
		return false
	}
	h, err := parseHeader(body[0])
	return err == nil && h.Session != k.session.ID
}
