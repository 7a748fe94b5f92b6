package kernel

import (
	"fmt"
	"sync"
)

// missed knows the cells whose output a front end has missed: one that reads nothing
// is cut in the end, so that memory stays bounded. It is told when it comes back,
// where its user looks: in the cell.
type missed struct {
	k     *kernel
	mu    sync.Mutex
	cells []*output
}

const maxMissed = 16 // front ends that were cut and have not come back

// note is called before a front end is cut. The newest cell is the one that has said
// so much.
func (m *missed) note() {
	m.k.comms.mu.Lock()
	o := m.k.comms.latest
	m.k.comms.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if o != nil && len(m.cells) < maxMissed {
		m.cells = append(m.cells, o)
	}
}

// tell returns the messages for a new subscriber. Nothing tells who it is: one that
// missed nothing gets a line too many in a cell.
func (m *missed) tell() [][][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cells) == 0 {
		return nil
	}
	o := m.cells[0]
	m.cells = m.cells[1:]
	frames := [][][]byte{m.k.iopub.frames("stream", Message{
		Parent: o.r.Header, Content: streamContent("stderr", "\noutput is missing here: the front end read nothing for too long\n"),
	})}
	if o.over.Load() { // or whoever waits for the cell's end would wait for ever
		frames = append(frames, m.k.iopub.frames("status", Message{Parent: o.r.Header, Content: mustEncode(status{"idle"})}))
	}
	return frames
}

func streamContent(name, text string) []byte {
	return mustEncode(object{"name": name, "text": text})
}

// lostText says how much of what a cell printed could not be sent.
func lostText(n int) string {
	return fmt.Sprintf("\n%d bytes of output are missing here: the cell was interrupted while the front end was slow to read\n", n)
}
