package kernel

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// settle is how long a failing cell waits for the cells that the front end sent
// together with it. Those that have arrived are aborted; a cell sent after the error
// was shown never is.
const settle = 5 * time.Millisecond

type executeRequest struct {
	Code            *string           `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"` // default true
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      *bool             `json:"allow_stdin"`   // default true
	StopOnError     *bool             `json:"stop_on_error"` // default true
}

func (k *kernel) execute(r *request) (any, error) {
	if r.aborted {
		return k.abortedReply(), nil
	}
	var c executeRequest
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	if c.Code == nil {
		return nil, errNoCode
	}
	// Cells run one at a time, whichever subshell they came from: those of other
	// subshells wait here.
	select {
	case k.cellSem <- struct{}{}:
		defer func() { <-k.cellSem }()
	case <-k.cellCtx.Done():
		return k.abortedReply(), nil
	}
	store := !c.Silent && orTrue(c.StoreHistory)
	if store {
		k.count.Add(1)
	}
	count := int(k.count.Load())
	ctx, done := k.interruptible()
	defer done()

	out := newOutput(k, r, ctx)
	out.silent, out.stdin = c.Silent, orTrue(c.AllowStdin)
	out.inTerminal(r)
	defer out.over.Store(true)
	if store {
		k.history.Put(Entry{Count: count, Text: *c.Code})
		out.kept = k.kept.start(count, *c.Code, r)
		defer out.kept.end()
		k.comms.cellStarts(out)
	}
	out.say("execute_input", object{"code": *c.Code, "execution_count": count})
	cell := Cell{Code: *c.Code, Count: count, Silent: c.Silent}
	if store && k.kept != nil {
		cell.Missed = k.clients.missed(r.Header.Session)
	}
	began := time.Now()
	if note := k.Witness.Begins(count, !store); note != "" {
		fmt.Fprintln(out.Stderr(), "note: "+note)
	}
	result := k.evaluate(ctx, cell, out)
	k.Witness.Ends()
	if store {
		for _, text := range k.history.News() {
			fmt.Fprintln(out.Stderr(), "note: "+text)
		}
	}
	out.end()
	if store {
		k.clients.ran(r.Header.Session, count, time.Since(began))
	}

	if e := result.Err; e != nil {
		if orTrue(c.StopOnError) {
			select {
			case <-time.After(settle):
			case <-k.cellCtx.Done():
			}
			r.queue.abort()
		}
		content := errorContent(e)
		out.say("error", object{"ename": e.Name, "evalue": e.Value, "traceback": content["traceback"]})
		content["execution_count"] = count
		content["payload"] = payload(result)
		content["user_expressions"] = object{}
		return content, nil
	}
	if result.Value != nil {
		shown := displayed(*result.Value)
		shown["execution_count"] = count
		out.say("execute_result", shown)
		if store {
			k.history.Put(Entry{Count: count, Text: result.Value.String(), Kind: ResultOf})
		}
	}
	return object{
		"status": "ok", "execution_count": count, "payload": payload(result),
		"user_expressions": k.expressions(ctx, c.UserExpressions),
	}, nil
}

func orTrue(p *bool) bool { return p == nil || *p }

func (k *kernel) abortedReply() object {
	return object{"status": "aborted", "execution_count": k.count.Load()}
}

// evaluate runs a cell. A panic of the evaluator, which should not happen, fails the
// cell.
func (k *kernel) evaluate(ctx context.Context, c Cell, out Output) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Result{Err: &Error{
				Name: "InternalError", Value: fmt.Sprint(p),
				Traceback: append([]string{fmt.Sprintf("InternalError: %v", p)}, strings.Split(string(debug.Stack()), "\n")...),
			}}
		}
	}()
	return k.eval.Eval(ctx, c, out)
}

// expressions evaluates the user_expressions of a request, each as a silent cell.
func (k *kernel) expressions(ctx context.Context, wanted map[string]string) object {
	values := object{}
	for name, code := range wanted {
		out := newOutput(k, &request{}, ctx)
		out.silent = true
		result := k.evaluate(ctx, Cell{Code: code, Count: int(k.count.Load()), Silent: true}, out)
		switch {
		case result.Err != nil:
			values[name] = errorContent(result.Err)
		case result.Value != nil:
			data, metadata := bundle(*result.Value)
			values[name] = object{"status": "ok", "data": data, "metadata": metadata}
		default:
			values[name] = object{"status": "ok", "data": object{}, "metadata": object{}}
		}
	}
	return values
}

func payload(r Result) []object {
	list := []object{}
	for _, p := range r.Payload {
		switch p.Source {
		case "page":
			data, _ := bundle(p.Data)
			list = append(list, object{"source": p.Source, "data": data, "start": 0})
		case "ask_exit":
			list = append(list, object{"source": p.Source, "keepkernel": false})
		case "set_next_input":
			list = append(list, object{"source": p.Source, "text": p.Text, "replace": p.Replace})
		}
	}
	return list
}
