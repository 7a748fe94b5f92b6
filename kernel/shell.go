package kernel

import (
	"cmp"
	"errors"
	"unicode/utf8"
)

func (k *kernel) kernelInfo(*request) (any, error) {
	l := k.eval.Language()
	links := k.HelpLinks
	if links == nil {
		links = []HelpLink{}
	}
	features := []string{"kernel subshells"}
	if k.debugger() != nil {
		features = append(features, "debugger")
	}
	info := object{
		"status":                 "ok",
		"protocol_version":       ProtocolVersion,
		"implementation":         l.Implementation,
		"implementation_version": l.Release,
		"banner":                 l.Banner,
		"help_links":             links,
		"debugger":               k.debugger() != nil,
		"supported_features":     features,
		"language_info": object{
			"name":               l.Name,
			"version":            l.Version,
			"mimetype":           l.MIMEType,
			"file_extension":     l.FileExtension,
			"pygments_lexer":     l.PygmentsLexer,
			"codemirror_mode":    l.CodeMirrorMode,
			"nbconvert_exporter": cmp.Or(l.Exporter, "script"),
		},
	}
	if l.Engine != "" { // a field of halfnote's own
		info["engine"] = l.Engine
	}
	return info, nil
}

func (k *kernel) isComplete(r *request) (any, error) {
	var c struct {
		Code *string `json:"code"`
	}
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	if c.Code == nil {
		return nil, errNoCode
	}
	switch a := k.eval.IsComplete(*c.Code); a.Status {
	case "incomplete":
		return object{"status": a.Status, "indent": a.Indent}, nil
	case "complete", "invalid":
		return object{"status": a.Status}, nil
	}
	return object{"status": "unknown"}, nil
}

var errNoCode = errors.New("content has no code, want a string")

// place is the code and cursor of a completion or inspection request.
type place struct {
	Code        *string `json:"code"`
	CursorPos   *int    `json:"cursor_pos"`
	DetailLevel int     `json:"detail_level"`
}

// at reads a place; cursor is clamped to code, and is its end if absent.
func (r *request) at() (code string, cursor, detail int, err error) {
	var p place
	if err := r.decode(&p); err != nil {
		return "", 0, 0, err
	}
	if p.Code == nil {
		return "", 0, 0, errNoCode
	}
	cursor = utf8.RuneCountInString(*p.Code)
	if p.CursorPos != nil {
		cursor = min(max(*p.CursorPos, 0), cursor)
	}
	return *p.Code, cursor, min(max(p.DetailLevel, 0), 1), nil
}

func (k *kernel) complete(r *request) (any, error) {
	code, cursor, _, err := r.at()
	if err != nil {
		return nil, err
	}
	found := Completion{Start: cursor, End: cursor}
	if c, ok := k.eval.(Completer); ok {
		found = c.Complete(code, cursor)
	}
	matches := []string{}
	typed := []object{} // IPython's extension, which JupyterLab shows
	for _, m := range found.Matches {
		matches = append(matches, m.Text)
		typed = append(typed, object{"text": m.Text, "type": m.Type, "signature": m.Signature, "start": found.Start, "end": found.End})
	}
	return object{
		"status": "ok", "matches": matches, "cursor_start": found.Start, "cursor_end": found.End,
		"metadata": object{"_jupyter_types_experimental": typed},
	}, nil
}

func (k *kernel) inspect(r *request) (any, error) {
	code, cursor, detail, err := r.at()
	if err != nil {
		return nil, err
	}
	reply := object{"status": "ok", "found": false, "data": object{}, "metadata": object{}}
	if c, ok := k.eval.(Completer); ok {
		if b, found := c.Inspect(code, cursor, detail); found {
			reply["found"] = true
			reply["data"], reply["metadata"] = bundle(b)
		}
	}
	return reply, nil
}

// connect answers connect_request, which is deprecated but still part of the protocol. A kernel without ports does not.
func (k *kernel) connect(*request) (any, error) {
	t, ok := k.transport.(interface{ Ports() map[string]int })
	if !ok {
		return nil, nil
	}
	reply := object{"status": "ok"}
	for name, port := range t.Ports() {
		reply[name] = port
	}
	return reply, nil
}
