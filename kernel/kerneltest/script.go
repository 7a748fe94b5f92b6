// Package kerneltest runs scripts of protocol exchanges against a kernel.
//
// A script is a txtar archive: a comment, then alternating sections: a step, and in a
// section named want the messages of the kernel that it causes:
//
//	A cell that prints.
//	-- execute --
//	print hello
//	-- want --
//	iopub status {"execution_state":"busy"}
//	iopub execute_input {"code":"print hello","execution_count":1}
//	iopub stream {"name":"stdout","text":"hello\n"}
//	iopub status {"execution_state":"idle"}
//	shell execute_reply {"execution_count":1,"payload":[],"status":"ok","user_expressions":{}}
//
// The messages of iopub are in the order of arrival, followed by the reply. With
// -update the sections named want are rewritten.
//
// The table of [steps] lists the steps; a step's words follow its name.
package kerneltest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/kernel/client"
)

var update = flag.Bool("update", false, "rewrite the want sections of the scripts")

// limit is how long a step may take; after that the kernel is considered stuck.
const limit = 30 * time.Second

// Run runs every script *.txtar of dir, each against its own kernel that start starts
// with the given options.
func Run(t *testing.T, start func(client.Options) (*client.Kernel, error), dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s (%v)", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{late: make(chan client.Message, 1000)}
			k, err := start(client.Options{Late: func(m client.Message) { s.late <- m }})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			s.kernel = k
			s.run(t, path, archive)
		})
	}
}

func (s *script) run(t *testing.T, path string, archive *txtar.Archive) {
	var out []txtar.File
	for i, f := range archive.Files {
		if f.Name == "want" {
			continue
		}
		got, err := s.step(f.Name, strings.TrimSuffix(string(f.Data), "\n"))
		if err != nil {
			t.Fatalf("%s: -- %s --: %v\ngot so far:\n%s", path, f.Name, err, got)
		}
		out = append(out, f, txtar.File{Name: "want", Data: []byte(got)})
		if *update {
			continue
		}
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
			t.Fatalf("%s: -- %s -- is followed by another section; want -- want --", path, f.Name)
		}
		if want := string(archive.Files[i+1].Data); got != want {
			t.Errorf("%s: -- %s --\ngot:\n%swant:\n%s", path, f.Name, got, want)
		}
	}
	if *update {
		data := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: out})
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// script is a running script.
type script struct {
	kernel  *client.Kernel
	running []*running          // started cells that are not finished
	late    chan client.Message // iopub messages that no step waited for
	ids     []string            // ids that the kernel chose; the first is ID1 in the script
}

type running struct {
	messages chan client.Message
	reply    client.Message
	err      error
}

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

func (s *script) step(name, body string) (string, error) {
	words := strings.Fields(name)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, st := range steps {
		if st.name == words[0] {
			var said []client.Message
			var numbered []string
			for i, id := range s.ids {
				numbered = append(numbered, fmt.Sprintf("ID%d", i+1), id)
			}
			ids := strings.NewReplacer(numbered...)
			for i, w := range words {
				words[i] = ids.Replace(w)
			}
			err := st.run(s, ctx, words[1:], ids.Replace(body), func(m client.Message) { said = append(said, m) })
			return s.number(lines(said)), err
		}
	}
	return "", fmt.Errorf("unknown step")
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

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// number replaces ids by ID1, ID2, …, in order of appearance.
func (s *script) number(text string) string {
	return uuid.ReplaceAllStringFunc(text, func(id string) string {
		i := slices.Index(s.ids, id)
		if i < 0 {
			i = len(s.ids)
			s.ids = append(s.ids, id)
		}
		return fmt.Sprintf("ID%d", i+1)
	})
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

// lines formats messages as in scripts: channel, type, content with sorted keys,
// without values that differ between runs. The division of a stream into messages
// differs, so adjacent ones are joined.
func lines(said []client.Message) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var before map[string]any
	for i, m := range said {
		var content any
		if err := m.Decode(&content); err != nil {
			fmt.Fprintf(&b, "%s %s %v\n", m.Channel, m.Header.Type, err)
			continue
		}

		stream, _ := content.(map[string]any)
		if m.Header.Type == "stream" && i+1 < len(said) && continues(m, said[i+1]) {
			before = join(before, stream)
			continue
		}
		if m.Header.Type == "stream" {
			content = join(before, stream)
			before = nil
		}
		fmt.Fprintf(&b, "%s %s ", m.Channel, m.Header.Type)
		for _, buffer := range m.Buffers {
			fmt.Fprintf(&b, "buffer %q ", buffer)
		}
		if err := e.Encode(blur(content)); err != nil {
			panic(err)
		}
	}
	return b.String()
}

var (
	stackTrace = regexp.MustCompile(`(?s)\ngoroutine \d+.*`)
	portNumber = regexp.MustCompile(`_port$`)
)

// continues reports whether b is a stream message of the same stream and cell as a.
func continues(a, b client.Message) bool {
	var x, y struct{ Name string }
	return b.Header.Type == "stream" && a.Parent.ID == b.Parent.ID &&
		a.Decode(&x) == nil && b.Decode(&y) == nil && x == y
}

func join(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}
	x, _ := a["text"].(string)
	y, _ := b["text"].(string)
	return map[string]any{"name": b["name"], "text": x + y}
}

// blur replaces ports and the stack traces of the evaluator's own panics.
func blur(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if _, ok := x.(float64); ok && portNumber.MatchString(name) {
				v[name] = "PORT"
				continue
			}
			v[name] = blur(x)
		}
	case []any:
		for i, x := range v {
			if s, ok := x.(string); ok && strings.HasPrefix(s, "goroutine ") {
				return append(v[:i:i], "STACK")
			}
			v[i] = blur(x)
		}
	case string:
		return stackTrace.ReplaceAllString(v, "\nSTACK")
	}
	return v
}
