package kerneltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"halfnote/kernel/client"
)

// steps lists the steps of scripts. A step returns the lines for its want section.
var steps = []struct {
	name, help string
	run        func(s *script, ctx context.Context, words []string, body string, say func(client.Message)) error
}{
	{"behind", "send the cell, which waits for the one that was started", (*script).behind},
	{"execute", "run the cell; words: silent, nohistory, continue, expr=NAME:CODE, answer=LINE, subshell=ID", (*script).execute},
	{"finish", "wait for the end of the first cell that was started", (*script).finish},
	{"heartbeat", "send a heartbeat and wait for it to come back", (*script).heartbeat},
	{"interrupt", "interrupt the running cell", (*script).interrupt},
	{"late", "wait for a message of a cell that has ended", (*script).awaitLate},
	{"queue", "run cells, separated by lines of ---, that are sent at once", (*script).queue},
	{"request", "CHANNEL TYPE [subshell=ID]: send the body as a request and wait for reply and idle", (*script).request},
	{"shutdown", "shut down and wait for the process to end", (*script).shutdown},
	{"start", "run the cell and wait for its first output", (*script).start},
	{"tell", "TYPE [subshell=ID] [buffer=TEXT]: send the body on shell and wait for idle: there is no reply", (*script).tell},
}

func (s *script) execute(ctx context.Context, words []string, body string, say func(client.Message)) error {
	o, err := options(words)
	if err != nil {
		return err
	}
	r, err := s.kernel.Execute(ctx, body, o, say)
	if err == nil {
		say(r.Message)
	}
	return err
}

func options(words []string) (client.ExecuteOptions, error) {
	o := client.ExecuteOptions{UserExpressions: map[string]string{}}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "silent":
			o.Silent = true
		case "nohistory":
			o.NoHistory = true
		case "continue":
			o.ContinueOnError = true
		case "expr":
			name, code, _ := strings.Cut(value, ":")
			o.UserExpressions[name] = strings.ReplaceAll(code, "_", " ")
		case "subshell":
			o.Subshell = value
		case "answer":
			o.Input = func(prompt string, password bool) (string, error) {
				return fmt.Sprintf("%s (prompt %q, password %v)", value, prompt, password), nil
			}
		default:
			return o, fmt.Errorf("unknown word %q", w)
		}
	}
	return o, nil
}

func (s *script) queue(ctx context.Context, words []string, body string, say func(client.Message)) error {
	o, err := options(words)
	if err != nil {
		return err
	}
	var calls []*client.Call
	for _, code := range strings.Split(body, "\n---\n") {
		c, err := s.kernel.Submit(code, o)
		if err != nil {
			return err
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		m, err := c.Wait(ctx, say)
		if err != nil {
			return err
		}
		say(m)
	}
	return nil
}

type running struct {
	messages chan client.Message
	reply    client.Message
	err      error
}

func (s *script) submit(code string, o client.ExecuteOptions) (*running, error) {
	r := &running{messages: make(chan client.Message, 1000)}
	c, err := s.kernel.Submit(code, o)
	if err != nil {
		return nil, err
	}
	s.running = append(s.running, r)
	go func() {
		defer close(r.messages)
		r.reply, r.err = c.Wait(context.Background(), func(m client.Message) { r.messages <- m })
	}()
	return r, nil
}

func (s *script) behind(ctx context.Context, words []string, body string, say func(client.Message)) error {
	o, err := options(words)
	if err == nil {
		_, err = s.submit(body, o)
	}
	return err
}

func (s *script) start(ctx context.Context, words []string, body string, say func(client.Message)) error {
	o, err := options(words)
	if err != nil {
		return err
	}
	r, err := s.submit(body, o)
	if err != nil {
		return err
	}
	for {
		select {
		case m, ok := <-r.messages:
			if !ok {
				return errors.Join(errors.New("the cell ended without any output"), r.err)
			}
			say(m)
			if t := m.Header.Type; t != "status" && t != "execute_input" {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *script) finish(ctx context.Context, words []string, body string, say func(client.Message)) error {
	if len(s.running) == 0 {
		return errors.New("no cell was started")
	}
	r := s.running[0]
	s.running = s.running[1:]
	for {
		select {
		case m, ok := <-r.messages:
			if ok {
				say(m)
				continue
			}
			if r.err == nil {
				say(r.reply)
			}
			return r.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *script) request(ctx context.Context, words []string, body string, say func(client.Message)) error {
	if len(words) < 2 {
		return errors.New("want CHANNEL TYPE")
	}
	c, err := s.send(words[0], words[1:], body)
	if err != nil {
		return err
	}
	m, err := c.Wait(ctx, say)
	if err == nil {
		say(m)
	}
	return err
}

func (s *script) tell(ctx context.Context, words []string, body string, say func(client.Message)) error {
	if len(words) < 1 {
		return errors.New("want TYPE")
	}
	c, err := s.send("shell", words, body)
	if err != nil {
		return err
	}
	return c.Idle(ctx, say)
}

func (s *script) send(channel string, words []string, body string) (*client.Call, error) {
	if body == "" {
		body = "{}"
	}
	r := client.Request{Channel: channel, Type: words[0], Content: json.RawMessage(body)}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "subshell":
			r.Subshell = value
		case "buffer":
			r.Buffers = append(r.Buffers, []byte(value))
		default:
			return nil, fmt.Errorf("unknown word %q", w)
		}
	}
	return s.kernel.SendRequest(r)
}

func (s *script) heartbeat(ctx context.Context, words []string, body string, say func(client.Message)) error {
	return s.kernel.Heartbeat(ctx)
}

func (s *script) interrupt(ctx context.Context, words []string, body string, say func(client.Message)) error {
	return s.kernel.Interrupt(ctx)
}

func (s *script) shutdown(ctx context.Context, words []string, body string, say func(client.Message)) error {
	return s.kernel.Shutdown(ctx, body == "restart")
}

func (s *script) awaitLate(ctx context.Context, words []string, body string, say func(client.Message)) error {
	for {
		select {
		case m := <-s.late:
			if m.Header.Type != "status" { // statuses belong to requests that no step waited for to end
				say(m)
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
