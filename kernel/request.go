package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"
)

// request is a received message with the state of its handling.
type request struct {
	Message
	channel Channel
	queue   *queue          // queue of its subshell
	after   <-chan struct{} // closed when its predecessor has been handled; nil for none
	done    chan struct{}   // closed when it has been handled; may be nil
	refused error           // why it is refused
	aborted bool            // whether a cell before it failed; written under the queue's lock
	started string          // timestamp
	then    func()          // called after the idle status
}

// object is a JSON object to send.
type object = map[string]any

// answers lists the known requests by message type. An answer returns the content of
// the reply; nil sends none.
var answers []answerer

type answerer struct {
	request        string
	shell, control bool
	answer         func(*kernel, *request) (any, error)
}

// The list is filled here because an answer may start goroutines that use the list.
func init() {
	answers = []answerer{
		{"comm_close", true, false, (*kernel).commClose},
		{"comm_info_request", true, true, (*kernel).commInfo},
		{"comm_msg", true, false, (*kernel).commMessage},
		{"comm_open", true, false, (*kernel).commOpen},
		{"complete_request", true, false, (*kernel).complete},
		{"connect_request", true, true, (*kernel).connect},
		{"create_subshell_request", false, true, (*kernel).createSubshell},
		{"debug_request", false, true, (*kernel).debug},
		{"delete_subshell_request", false, true, (*kernel).deleteSubshell},
		{"execute_request", true, false, (*kernel).execute},
		{"history_request", true, false, (*kernel).historyReply},
		{"inspect_request", true, false, (*kernel).inspect},
		{"interrupt_request", true, true, (*kernel).interruptRequest},
		{"is_complete_request", true, false, (*kernel).isComplete},
		{"kernel_info_request", true, true, (*kernel).kernelInfo},
		{"list_subshell_request", false, true, (*kernel).listSubshells},
		{"shutdown_request", true, true, (*kernel).shutdown},
		{"usage_request", false, true, (*kernel).usage},
	}
}

// serve answers r between the statuses busy and idle, which status sends.
func (k *kernel) serve(r *request, status func(state string)) {
	r.started = timestamp(time.Now())
	status("busy")
	content, err := k.answer(r)
	if err != nil {
		k.log.Printf("%s: %s: %v", r.channel, r.Header.Type, err)
		content = k.failure(r, err)
	}
	if content != nil {
		k.reply(r, content)
	}
	status("idle")
	if r.then != nil {
		r.then()
	}
}

// answer returns the content of r's reply. A panic becomes an error: no request ends
// the process.
func (k *kernel) answer(r *request) (content any, err error) {
	defer func() {
		if p := recover(); p != nil {
			content, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if r.refused != nil {
		return nil, r.refused
	}
	for _, a := range answers {
		if a.request != r.Header.Type {
			continue
		}
		if r.channel == Control && !a.control || r.channel == Shell && !a.shell {
			return nil, fmt.Errorf("not answered on %s", r.channel)
		}
		return a.answer(k, r)
	}
	// By the protocol, a kernel does not reply to requests for features that it lacks.
	k.log.Printf("%s: unknown message type %q", r.channel, r.Header.Type)
	return nil, nil
}

// failure is the reply to a request that could not be handled.
func (k *kernel) failure(r *request, err error) any {
	if !strings.HasSuffix(r.Header.Type, "_request") {
		return nil
	}
	c := errorContent(&Error{Name: "BadRequest", Value: r.Header.Type + ": " + firstLine(err.Error()), Traceback: strings.Split(err.Error(), "\n")})
	if r.Header.Type == "execute_request" {
		c["execution_count"] = k.count.Load()
	}
	return c
}

func (k *kernel) reply(r *request, content any) {
	msgType := strings.TrimSuffix(r.Header.Type, "_request") + "_reply"
	k.send(r.channel, r.Prefix, k.session.Header(msgType), r.Header, object{"started": r.started}, content)
}

// decode reads a request's content into v, a pointer to a struct.
func (r *request) decode(v any) error {
	if !utf8.Valid(r.Content) {
		return errors.New("content is not UTF-8")
	}
	if err := json.Unmarshal(r.Content, v); err != nil {
		if e, ok := err.(*json.UnmarshalTypeError); ok {
			what := "content"
			if e.Field != "" {
				what = e.Field
			}
			return fmt.Errorf("%s is a JSON %s, want %s", what, e.Value, jsonKind(e.Type))
		}
		return fmt.Errorf("content: %w", err)
	}
	return nil
}

// jsonKind returns the JSON kind that a field of type t accepts.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Int:
		return "whole number"
	}
	return t.Kind().String() // string, bool
}

// size returns the approximate size of r in bytes.
func (r *request) size() int {
	n := len(r.Header.raw) + len(r.Metadata) + len(r.Content)
	for _, b := range r.Buffers {
		n += len(b) + 24 // plus the slice header
	}
	return n
}

func errorContent(e *Error) object {
	traceback := e.Traceback
	if traceback == nil {
		traceback = []string{}
	}
	return object{"status": "error", "ename": e.Name, "evalue": e.Value, "traceback": traceback}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
