package kernel

import (
	"context"
	"encoding/json"
	"slices"
)

// restoreTarget is the target of comms by which a front end that was opened while or after cells
// ran gets their outputs. The front end opens the comm with {}, or sends {"cells": [ids]} later. If outputs are
// cleared by hand, it sends {"cleared": [ids]}, and these cells are left out until they run again. The
// answer is {"cells": [...]}, for each notebook cell the last time that it ran:
//
//	cell     id of the notebook's cell, from the metadata of its execute_request
//	request  msg_id of that request
//	session  session of that request
//	source   source of the cell
//	count    execution count
//	running  whether the cell is still running
//	outputs  list of outputs as notebooks hold them
const restoreTarget = "halfnote.outputs"

// restorer accepts comms for restoreTarget.
func (k *kernel) restorer(ctx context.Context, c Comm, m CommMessage, out Output) CommHandler {
	if o, ok := out.(*commOutput); ok {
		k.clients.told(o.parent.Session)
	}
	answer := func(_ context.Context, m CommMessage, out Output) {
		var asked struct {
			Cells   []string `json:"cells"`
			Cleared []string `json:"cleared"`
		}
		json.Unmarshal(m.Data, &asked) // other content asks for all cells
		if asked.Cleared != nil {
			k.kept.clear(asked.Cleared)
			return
		}
		data := mustEncode(object{"cells": k.kept.latest(asked.Cells)})
		if err := c.Send(CommMessage{Data: data}, out); err != nil {
			k.log.Printf("%s: %v", restoreTarget, err)
		}
	}
	answer(ctx, m, out)
	return CommHandler{Message: answer}
}

// clear excludes cells from restored output. Their outputs remain in the history.
func (k *kept) clear(ids []string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.cells {
		c.cleared = c.cleared || slices.Contains(ids, c.id)
	}
}

// latest returns what restoreTarget sends of the cells with ids, or of all if there are none.
func (k *kept) latest(ids []string) []object {
	list := []object{}
	if k == nil {
		return list
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := map[string]bool{"": true}
	for _, c := range slices.Backward(k.cells) {
		if seen[c.id] || ids != nil && !slices.Contains(ids, c.id) {
			continue
		}
		seen[c.id] = true
		if c.cleared {
			continue
		}
		list = append(list, object{"cell": c.id, "request": c.request, "session": c.session, "source": c.source, "count": c.line, "running": c.took == 0, "outputs": c.outputs()})
	}
	return list
}
