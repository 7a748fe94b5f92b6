package client

import (
	"context"
	"encoding/json"
)

// ExecuteOptions are the fields of execute_request other than the code. The zero value
// is what front ends send.
type ExecuteOptions struct {
	Silent          bool              // whether to show nothing and leave no trace
	NoHistory       bool              // whether to leave the cell uncounted
	ContinueOnError bool              // whether queued cells run even if this one fails
	UserExpressions map[string]string // expressions evaluated after the cell, by name
	// Input is called when the cell requests a line of text. If it is nil, input is not
	// available to the cell.
	Input func(prompt string, password bool) (string, error)
	// Subshell is the subshell_id to run in; "" is the main shell.
	Subshell string
}

// Reply is the content of an execute_reply.
type Reply struct {
	ID              string                     `json:"-"`      // id of the request, Parent.ID of its output
	Status          string                     `json:"status"` // "ok", "error" or "aborted"
	ExecutionCount  int                        `json:"execution_count"`
	ErrorName       string                     `json:"ename"`
	ErrorValue      string                     `json:"evalue"`
	Traceback       []string                   `json:"traceback"`
	Payload         []json.RawMessage          `json:"payload"`
	UserExpressions map[string]json.RawMessage `json:"user_expressions"`
	Message         Message                    `json:"-"`
}

// Execute runs a cell to its end. It calls on, in order, with every iopub message of
// the cell; the last is the status idle. A failing cell is not an error: Reply reports
// it. If ctx ends, Execute returns while the cell still runs; Interrupt ends the cell.
func (k *Kernel) Execute(ctx context.Context, code string, o ExecuteOptions, on func(Message)) (Reply, error) {
	c, err := k.Submit(code, o)
	if err != nil {
		return Reply{}, err
	}
	m, err := c.Wait(ctx, on)
	r := Reply{ID: c.ID, Message: m}
	if err != nil {
		return r, err
	}
	return r, m.Decode(&r)
}

// Submit sends a cell without waiting for it, so that several can be queued. Wait must
// be called for each call.
func (k *Kernel) Submit(code string, o ExecuteOptions) (*Call, error) {
	expressions := o.UserExpressions
	if expressions == nil {
		expressions = map[string]string{}
	}
	return k.SendRequest(Request{
		Channel: "shell", Type: "execute_request", Input: o.Input, Subshell: o.Subshell,
		Content: map[string]any{
			"code": code, "silent": o.Silent, "store_history": !o.Silent && !o.NoHistory,
			"user_expressions": expressions, "allow_stdin": o.Input != nil, "stop_on_error": !o.ContinueOnError,
		},
	})
}
