package jupyter

import "halfnote/kernel"

// proves reports whether frames, as a client sends them, prove that the client may have
// its identity: the message is signed, was not received before, and was not sent by
// this kernel, whose own messages can be copied from iopub. Without a key every
// well-formed message is a proof.
func (s *server) proves(frames [][]byte) bool {
	_, signature, body, err := split(frames)
	if err != nil || s.codec.verify(signature, body) != nil || s.codec.received(signature) {
		return false
	}
	h, err := kernel.ParseHeader(body[0])
	return err == nil && h.Session != s.hooks.Session
}
