package kernel

import (
	"fmt"
	"sync"
)

// lostOutput records the cells whose output a front end has lost. A front end that stops
// reading is disconnected, which bounds memory. It gets a notice in the cell when it
// reconnects.
type lostOutput struct {
	k     *kernel
	mu    sync.Mutex
	cells []*output
}

const maxLost = 16 // disconnected front ends that have not reconnected

// note is called before a front end is disconnected. It assumes that the newest cell
// printed the output.
func (m *lostOutput) note() {
	m.k.comms.mu.Lock()
	o := m.k.comms.latest
	m.k.comms.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if o != nil && len(m.cells) < maxLost {
		m.cells = append(m.cells, o)
	}
}

// notices returns the messages for a new subscriber. Reconnecting clients cannot be
// identified, so another client may get a spurious notice.
func (m *lostOutput) notices() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cells) == 0 {
		return nil
	}
	o := m.cells[0]
	m.cells = m.cells[1:]
	list := []Message{m.k.iopub.message("stream", Message{
		Parent: o.r.Header, Content: streamContent("stderr", "\noutput was lost here: the front end stopped reading"+o.hint()+"\n"),
	})}
	if o.over.Load() { // otherwise a client would wait forever for the end of the cell
		list = append(list, m.k.iopub.message("status", Message{Parent: o.r.Header, Content: mustEncode(status{"idle"})}))
	}
	return list
}

func streamContent(name, text string) []byte {
	return mustEncode(object{"name": name, "text": text})
}

// lostText returns the notice for n bytes of the cell's output that could not be sent.
func (o *output) lostText(n int) string {
	return fmt.Sprintf("\n%d bytes of output were lost here: the cell was interrupted while the front end was slow to read%s\n", n, o.hint())
}

// hint returns how to see the kept output of the cell, for the end of a notice.
func (o *output) hint() string {
	u, ok := o.k.eval.(OutputUser)
	if !ok || o.kept == nil {
		return ""
	}
	return "; " + u.OutputCell(o.kept.line) + " shows the output that was kept"
}
