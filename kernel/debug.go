package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"halfnote/display"
)

// debugging is the state of the debug adapter protocol. Its lock is not held during
// calls of the evaluator that may need it.
type debugging struct {
	expandable expandable

	mu      sync.Mutex
	seq     int               // sequence number of events
	started bool              // a front end has attached
	sources map[string]string // sources of cells by the path that front ends give them
	lines   map[string][]int  // breakpoints, by path
	frames  []DebugFrame      // frames of the last stackTrace, by frameId from 1
}

// debugRequest is a request of the debug adapter protocol, inside debug_request.
type debugRequest struct {
	Seq       int             `json:"seq"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`

	header Header // header of the message
}

// debugCommands lists the supported commands. Those of a variable panel work with every
// evaluator, those that stop cells need a [Debugger].
var debugCommands = []struct {
	command string
	stops   bool
	answer  func(*kernel, *debugRequest) (any, error)
}{
	{"attach", false, (*kernel).debugAttach},
	{"configurationDone", false, debugNothing},
	{"continue", true, (*kernel).debugResume},
	{"debugInfo", false, (*kernel).debugInfo},
	{"disconnect", false, (*kernel).debugDetach},
	{"dumpCell", true, (*kernel).debugDumpCell},
	{"evaluate", false, (*kernel).debugEvaluate},
	{"initialize", false, (*kernel).debugInitialize},
	{"inspectVariables", false, (*kernel).debugInspect},
	{"modules", false, func(*kernel, *debugRequest) (any, error) { return object{"modules": []any{}, "totalModules": 0}, nil }},
	{"next", true, (*kernel).debugResume},
	{"pause", true, (*kernel).debugPause},
	{"richInspectVariables", false, (*kernel).debugRich},
	{"scopes", true, (*kernel).debugScopes},
	{"setBreakpoints", false, (*kernel).debugBreakpoints},
	{"setExceptionBreakpoints", false, (*kernel).debugPanics},
	{"source", true, (*kernel).debugSource},
	{"stackTrace", true, (*kernel).debugStack},
	{"stepIn", true, (*kernel).debugResume},
	{"stepOut", true, (*kernel).debugResume},
	{"threads", false, (*kernel).debugThreads},
	{"variables", false, (*kernel).debugVariables},
}

// debugger returns the evaluator as a Debugger; nil if it is not one.
func (k *kernel) debugger() Debugger {
	d, _ := k.eval.(Debugger)
	return d
}

func (k *kernel) debug(r *request) (any, error) {
	q := debugRequest{header: r.Header}
	if err := r.decode(&q); err != nil {
		return nil, err
	}
	reply := object{"type": "response", "seq": q.Seq, "request_seq": q.Seq, "command": q.Command}
	body, err := k.debugAnswer(&q)
	reply["success"] = err == nil
	if err != nil {
		reply["message"], body = err.Error(), object{}
	}
	reply["body"] = body
	return reply, nil
}

func (k *kernel) debugAnswer(q *debugRequest) (any, error) {
	var names []string
	for _, c := range debugCommands {
		switch {
		case c.stops && k.debugger() == nil:
			continue
		case c.command == q.Command:
			return c.answer(k, q)
		}
		names = append(names, c.command)
	}
	return nil, fmt.Errorf("command: %q is not supported, want one of %s", q.Command, strings.Join(names, ", "))
}

func debugNothing(*kernel, *debugRequest) (any, error) { return object{}, nil }

func (k *kernel) debugInitialize(q *debugRequest) (any, error) {
	k.iopub.later(q.header, "debug_event", k.debugging.newEvent("initialized", object{}))
	filters := []any{}
	if k.debugger() != nil {
		filters = append(filters, object{"filter": panicsFilter, "label": "Panics", "default": false, "description": "Stops where a panic ends a cell"})
	}
	return object{
		"supportsSetVariable": false, "supportsConditionalBreakpoints": false, "supportsConfigurationDoneRequest": true,
		"supportsEvaluateForHovers": true, "exceptionBreakpointFilters": filters,
	}, nil
}

// panicsFilter is the name of the only exception filter.
const panicsFilter = "panics"

func (k *kernel) debugPanics(q *debugRequest) (any, error) {
	var a struct {
		Filters []string `json:"filters"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	for _, f := range a.Filters {
		if f != panicsFilter || k.debugger() == nil {
			return nil, fmt.Errorf("filters: unknown filter %q", f)
		}
	}
	if e := k.debugger(); e != nil {
		e.StopAtPanics(len(a.Filters) > 0)
	}
	return object{}, nil
}

func (d *debugging) newEvent(event string, body object) object {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	return object{"type": "event", "seq": d.seq, "event": event, "body": body}
}

func (k *kernel) debugAttach(q *debugRequest) (any, error) {
	d := &k.debugging
	d.mu.Lock()
	d.started = k.debugger() != nil
	d.mu.Unlock()
	if e := k.debugger(); e != nil {
		parent := q.header
		e.Debug(func(x DebugEvent) {
			event := k.debugging.newEvent("continued", object{"threadId": x.Thread, "allThreadsContinued": true})
			if x.Reason != "" {
				body := object{"threadId": x.Thread, "reason": x.Reason, "allThreadsStopped": true}
				if x.Text != "" {
					body["text"] = x.Text
				}
				event = k.debugging.newEvent("stopped", body)
			}
			k.iopub.publish(k.life, parent, "debug_event", event)
		})
	}
	return object{}, nil
}

func (k *kernel) debugDetach(*debugRequest) (any, error) {
	d := &k.debugging
	d.mu.Lock()
	d.started, d.frames, d.lines = false, nil, map[string][]int{}
	d.mu.Unlock()
	if e := k.debugger(); e != nil {
		e.Debug(nil)
	}
	return object{}, nil
}

func (k *kernel) debugInfo(*debugRequest) (any, error) {
	stopped := []int{}
	if e := k.debugger(); e != nil {
		stopped = e.Stopped()
	}
	d := &k.debugging
	d.mu.Lock()
	defer d.mu.Unlock()
	points := []object{}
	for path, lines := range d.lines {
		at := []object{}
		for _, line := range lines {
			at = append(at, object{"line": line})
		}
		points = append(points, object{"source": path, "breakpoints": at})
	}
	slices.SortFunc(points, func(a, b object) int { return strings.Compare(a["source"].(string), b["source"].(string)) })
	return object{
		"isStarted": d.started, "hashMethod": "Murmur2", "hashSeed": hashSeed, "tmpFilePrefix": k.cellPrefix(), "tmpFileSuffix": cellSuffix,
		"breakpoints": points, "stoppedThreads": stopped, "richRendering": true, "exceptionPaths": []any{}, "copyToGlobals": false,
	}, nil
}

func readArguments(q *debugRequest, v any) error {
	if len(q.Arguments) == 0 || string(q.Arguments) == "null" {
		return errors.New("arguments: missing, want an object")
	}
	r := request{Message: Message{Content: q.Arguments}}
	if err := r.decode(v); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

func (k *kernel) variables() []Variable {
	if e, ok := k.eval.(VariableLister); ok {
		return e.Variables()
	}
	return nil
}

func (k *kernel) debugRich(q *debugRequest) (any, error) {
	var a struct {
		Name  string `json:"variableName"`
		Frame int    `json:"frameId"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	all := append(k.debugLocals(a.Frame), k.variables()...)
	i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == a.Name })
	if i < 0 {
		return nil, fmt.Errorf("variableName: variable %q not found", a.Name)
	}
	b := display.Bundle{Data: map[string]any{"text/plain": all[i].Value}}
	if all[i].Rich != nil {
		b = all[i].Rich()
	}
	data, metadata := bundle(b)
	return object{"data": data, "metadata": metadata}, nil
}
