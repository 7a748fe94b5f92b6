package notebook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"maps"
	"slices"

	"halfnote/kernel/client"
)

// The types of the notebook format for widgets: a reference to a widget in an output, and the
// states of all widgets in the metadata.
const (
	widgetView  = "application/vnd.jupyter.widget-view+json"
	widgetState = "application/vnd.jupyter.widget-state+json"
)

// widgetStates is the content of update_states, the answer to request_states of the widget
// messaging protocol's control channel.
type widgetStates struct {
	Method string                    `json:"method"`
	States map[string]map[string]any `json:"states"`
	Paths  [][]any                   `json:"buffer_paths"`
	// Bundles are the answer to request_bundles, which only halfnote's kernel knows.
	Bundles map[string]map[string]any `json:"bundles"`
}

// saveWidgets stores the states of widgets in the metadata, as nbclient and JupyterLab do, so that
// pages without a kernel draw the widgets. Outputs of halfnote's own widgets also get their last
// state as text and HTML. Widgets get names that stay the same from run to run. A kernel that does not answer leaves the notebook as it is.
func (r *Runner) saveWidgets(ctx context.Context, k *client.Kernel) {
	r.out.mu.Lock()
	delete(r.nb.Metadata, "widgets")
	r.out.mu.Unlock()
	shown := r.out.widgets()
	if len(shown) == 0 || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id := rand.Text()
	send := func(kind string, content any) {
		c, err := k.SendRequest(client.Request{Channel: "shell", Type: kind, Content: content, Metadata: map[string]any{"version": "1.0.0"}})
		if err != nil {
			return
		}
		c.Idle(ctx, func(m client.Message) {
			var content struct {
				ID   string       `json:"comm_id"`
				Data widgetStates `json:"data"`
			}
			if m.Header.Type != "comm_msg" || m.Decode(&content) != nil || content.ID != id {
				return
			}
			switch content.Data.Method {
			case "update_states":
				states := content.Data.saved(m.Buffers)
				r.out.mu.Lock()
				r.nb.Metadata["widgets"] = map[string]any{widgetState: states}
				r.out.mu.Unlock()
			case "update_bundles":
				for _, w := range shown {
					if b, ok := content.Data.Bundles[w.model]; ok {
						r.out.replace(w.output, b)
					}
				}
			}
		})
	}
	var models []string
	for _, w := range shown {
		models = append(models, w.model)
	}
	slices.Sort(models)
	send("comm_open", map[string]any{"comm_id": id, "target_name": "jupyter.widget.control", "data": struct{}{}})
	send("comm_msg", map[string]any{"comm_id": id, "data": map[string]any{"method": "request_states"}})
	send("comm_msg", map[string]any{"comm_id": id, "data": map[string]any{"method": "request_bundles", "models": slices.Compact(models)}})
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	if all, ok := r.nb.Metadata["widgets"].(map[string]any); ok {
		saved := all[widgetState].(map[string]any)
		saved["state"] = nameModels(r.nb.Cells, saved["state"].(map[string]any))
	}
}

// saved returns the states in the form of the metadata, in which each widget has its buffers.
func (s widgetStates) saved(buffers [][]byte) map[string]any {
	for i, path := range s.Paths {
		if i >= len(buffers) || len(path) < 3 {
			continue
		}
		id, _ := path[0].(string)
		if state := s.States[id]; state != nil {
			list, _ := state["buffers"].([]any)
			state["buffers"] = append(list, map[string]any{
				"path": path[2:], "encoding": "base64", "data": base64.StdEncoding.EncodeToString(buffers[i]),
			})
		}
	}
	states := map[string]any{}
	for id, state := range s.States {
		states[id] = state
	}
	return map[string]any{"version_major": 2, "version_minor": 0, "state": states}
}

// shownWidget is an output that refers to a widget.
type shownWidget struct {
	output *Output
	model  string
}

// widgets returns the outputs that refer to widgets.
func (c *collector) widgets() (list []shownWidget) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.areas {
		for _, o := range a.cell.Outputs {
			if model := o.widget(); model != "" {
				list = append(list, shownWidget{o, model})
			}
		}
	}
	return list
}

// replace replaces types of an output's data.
func (c *collector) replace(o *Output, data map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(o.Data, data)
}
