package kernel

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxExpandable is the limit on the displayed parts of a value, and on the values with
// parts: the panel is for human readers.
const maxExpandable = 1000

// expandable holds the values whose parts a front end may request, numbered as in the debug
// adapter protocol: by variablesReference, from 1. The next inspectVariables starts
// again from 1.
type expandable struct {
	mu     sync.Mutex
	values []func() []Variable
}

func (k *kernel) debugInspect(*debugRequest) (any, error) {
	l := &k.debugging.expandable
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = nil
	return object{"variables": l.show(k.variables())}, nil
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
	l := &k.debugging.expandable
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Reference < 1 || a.Reference > len(l.values) {
		return nil, fmt.Errorf("variablesReference: %d, want one of inspectVariables, 1 to %d", a.Reference, len(l.values))
	}
	parts := l.values[a.Reference-1]()
	parts = parts[min(max(a.Start, 0), len(parts)):]
	if a.Count > 0 {
		parts = parts[:min(a.Count, len(parts))]
	}
	return object{"variables": l.show(parts)}, nil
}

// show returns variables in the form of the debug adapter protocol. JupyterLab's tree
// shows the type in place of the value, so only values with parts have one.
func (l *expandable) show(list []Variable) []object {
	shown := []object{}
	for i, v := range list {
		if i == maxExpandable {
			return append(shown, object{"name": "…", "type": "", "value": fmt.Sprintf("%d more", len(list)-i), "variablesReference": 0})
		}
		o := object{"name": v.Name, "evaluateName": v.Name, "value": v.Value, "variablesReference": l.refer(v.Children)}
		if v.Children != nil {
			o["type"] = v.Type
		}
		shown = append(shown, o)
	}
	return shown
}

// refer returns the number by which parts can be requested, 0 for none.
func (l *expandable) refer(parts func() []Variable) int {
	if parts == nil || len(l.values) >= maxExpandable*maxExpandable {
		return 0
	}
	l.values = append(l.values, parts)
	return len(l.values)
}

// debugScopes returns the variables of a frame and the variables of all cells.
func (k *kernel) debugScopes(q *debugRequest) (any, error) {
	var a struct {
		Frame int `json:"frameId"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	l := &k.debugging.expandable
	l.mu.Lock()
	defer l.mu.Unlock()
	scope := func(name, hint string, parts func() []Variable) object {
		return object{"name": name, "presentationHint": hint, "variablesReference": l.refer(parts), "expensive": false}
	}
	return object{"scopes": []object{
		scope("Locals", "locals", func() []Variable { return k.debugLocals(a.Frame) }),
		scope("Globals", "globals", k.variables),
	}}, nil
}

// debugLocals returns the variables of a frame of the last stackTrace.
func (k *kernel) debugLocals(frame int) []Variable {
	d := &k.debugging
	d.mu.Lock()
	var locals func() []Variable
	if frame > 0 && frame <= len(d.frames) {
		locals = d.frames[frame-1].Locals
	}
	d.mu.Unlock()
	if locals == nil {
		return nil
	}
	return locals()
}

// debugEvaluate returns the value of a variable, or of a field or element of one:
// expressions that need no code to run.
func (k *kernel) debugEvaluate(q *debugRequest) (any, error) {
	var a struct {
		Expression string `json:"expression"`
		Frame      int    `json:"frameId"`
	}
	if err := readArguments(q, &a); err != nil {
		return nil, err
	}
	names := pathOf(a.Expression)
	among := append(k.debugLocals(a.Frame), k.variables()...)
	var v Variable
	for i, name := range names {
		at := slices.IndexFunc(among, func(v Variable) bool { return v.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("expression: %q has no %q, want a variable, a field such as x.F or an element such as x[0]", a.Expression, name)
		}
		v, among = among[at], nil
		if v.Children != nil && i < len(names)-1 {
			among = v.Children()
		}
	}
	l := &k.debugging.expandable
	l.mu.Lock()
	defer l.mu.Unlock()
	return object{"result": v.Value, "type": v.Type, "variablesReference": l.refer(v.Children)}, nil
}

// pathOf splits "x.F[0]" into "x", "F" and "[0]", the names of a variable and its
// parts.
func pathOf(expression string) (list []string) {
	part := ""
	end := func() {
		if part != "" {
			list = append(list, part)
		}
		part = ""
	}
	for _, r := range strings.TrimSpace(expression) {
		switch {
		case r == '.' && !strings.HasPrefix(part, "["):
			end()
			continue
		case r == '[':
			end()
		}
		part += string(r)
		if r == ']' {
			end()
		}
	}
	end()
	if list == nil {
		list = []string{""}
	}
	return list
}
