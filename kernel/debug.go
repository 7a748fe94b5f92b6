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

// maxLooked is how many parts of a value, and how many values with parts, are
// shown: panels are for people.
const maxLooked = 1000

// looked holds the values whose parts a front end may ask for, as the debug adapter
// protocol numbers them: by variablesReference, from 1. The next
// inspectVariables starts anew.
type looked struct {
	mu     sync.Mutex
	values []func() []Variable
}

// debugRequest is a request of the debug adapter protocol, inside debug_request.
type debugRequest struct {
	Seq       int             `json:"seq"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`
}

// debugCommands lists what is answered: enough for a panel of variables. There are
// no breakpoints, so nothing ever stops, and "debugger" is not among the
// supported features.
var debugCommands = []struct {
	command string
	answer  func(*kernel, *debugRequest) (any, error)
}{
	{"attach", debugNothing},
	{"configurationDone", debugNothing},
	{"debugInfo", (*kernel).debugInfo},
	{"disconnect", debugNothing},
	{"initialize", (*kernel).debugInitialize},
	{"inspectVariables", (*kernel).debugInspect},
	{"modules", func(*kernel, *debugRequest) (any, error) { return object{"modules": []any{}, "totalModules": 0}, nil }},
	{"richInspectVariables", (*kernel).debugRich},
	{"setBreakpoints", func(*kernel, *debugRequest) (any, error) { return object{"breakpoints": []any{}}, nil }},
	{"threads", func(*kernel, *debugRequest) (any, error) { return object{"threads": []any{}}, nil }},
	{"variables", (*kernel).debugVariables},
}

func (k *kernel) debug(r *request) (any, error) {
	var q debugRequest
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
	for _, c := range debugCommands {
		if c.command == q.Command {
			return c.answer(k, q)
		}
	}
	return nil, fmt.Errorf("command: %q is not supported, expected one of %s", q.Command, debugNames())
}

func debugNames() string {
	var names []string
	for _, c := range debugCommands {
		names = append(names, c.command)
	}
	return strings.Join(names, ", ")
}

func debugNothing(*kernel, *debugRequest) (any, error) { return object{}, nil }

func (k *kernel) debugInitialize(*debugRequest) (any, error) {
	return object{
		"supportsSetVariable": false, "supportsConditionalBreakpoints": false,
		"supportsEvaluateForHovers": false, "exceptionBreakpointFilters": []any{},
	}, nil
}

func (k *kernel) debugInfo(*debugRequest) (any, error) {
	return object{
		"isStarted": false, "hashMethod": "Murmur2", "hashSeed": 0, "tmpFilePrefix": "", "tmpFileSuffix": "",
		"breakpoints": []any{}, "stoppedThreads": []any{}, "richRendering": true, "exceptionPaths": []any{}, "copyToGlobals": false,
	}, nil
}

func (k *kernel) debugInspect(*debugRequest) (any, error) {
	l := &k.looked
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = nil
	return object{"variables": l.show(k.variables())}, nil
}

func (k *kernel) variables() []Variable {
	if e, ok := k.eval.(VariableLister); ok {
		return e.Variables()
	}
	return nil
}

func (k *kernel) debugVariables(q *debugRequest) (any, error) {
	var a struct {
		Reference int `json:"variablesReference"`
		Start     int `json:"start"`
		Count     int `json:"count"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	l := &k.looked
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Reference < 1 || a.Reference > len(l.values) {
		return nil, fmt.Errorf("variablesReference: %d, expected one of inspectVariables, 1 to %d", a.Reference, len(l.values))
	}
	parts := l.values[a.Reference-1]()
	parts = parts[min(max(a.Start, 0), len(parts)):]
	if a.Count > 0 {
		parts = parts[:min(a.Count, len(parts))]
	}
	return object{"variables": l.show(parts)}, nil
}

// show returns variables in the form of the debug adapter protocol.
func (l *looked) show(list []Variable) []object {
	shown := []object{}
	for i, v := range list {
		if i == maxLooked {
			return append(shown, object{"name": "…", "type": "", "value": fmt.Sprintf("%d more", len(list)-i), "variablesReference": 0})
		}
		reference := 0
		if v.Children != nil && len(l.values) < maxLooked*maxLooked {
			l.values = append(l.values, v.Children)
			reference = len(l.values)
		}
		shown = append(shown, object{
			"name": v.Name, "evaluateName": v.Name, "type": v.Type, "value": v.Value, "variablesReference": reference,
		})
	}
	return shown
}

func (k *kernel) debugRich(q *debugRequest) (any, error) {
	var a struct {
		Name string `json:"variableName"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	all := k.variables()
	i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == a.Name })
	if i < 0 {
		return nil, fmt.Errorf("variableName: there is no variable %q", a.Name)
	}
	b := display.Bundle{Data: map[string]any{"text/plain": all[i].Value}}
	if all[i].Rich != nil {
		b = all[i].Rich()
	}
	data, metadata := bundle(b)
	return object{"data": data, "metadata": metadata}, nil
}

func readArguments(q *debugRequest, v any) error {
	if len(q.Arguments) == 0 || string(q.Arguments) == "null" {
		return errors.New("arguments: missing, expected an object")
	}
	r := request{Message: Message{Content: q.Arguments}}
	if err := r.decode(v); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}
