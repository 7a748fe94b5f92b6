package client_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/client"
)

// TestIPykernel runs cells on the reference kernel, which uses libzmq.
func TestIPykernel(t *testing.T) {
	spec, err := client.FindSpec("python3")
	if err != nil {
		testenv.Missing(t, "jupyter", "needs ipykernel: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	k, err := client.Start(ctx, spec, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if err := k.Heartbeat(ctx); err != nil {
		t.Error(err)
	}
	var said []string
	hear := func(m client.Message) { said = append(said, m.Header.Type) }
	for _, tt := range []struct {
		code, status, said string
	}{
		{"print(6*7)", "ok", "status execute_input stream status"},
		{"x = 6*7; x", "ok", "status execute_input execute_result status"},
		{"1/0", "error", "status execute_input error status"},
		{"print(input('name? '))", "ok", "status execute_input stream status"},
	} {
		said = nil
		reply, err := k.Execute(ctx, tt.code, client.ExecuteOptions{
			Input: func(prompt string, password bool) (string, error) { return prompt + "bob", nil },
		}, hear)
		if got := strings.Join(said, " "); err != nil || reply.Status != tt.status || got != tt.said {
			t.Errorf("%s: got status %s, messages %s, error %v; want %s, %s", tt.code, reply.Status, got, err, tt.status, tt.said)
		}
	}
	// ipykernel is interrupted by SIGINT.
	reply, err := k.Execute(ctx, "print('on', flush=True)\nwhile True: pass", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			if err := k.Interrupt(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || reply.ErrorName != "KeyboardInterrupt" {
		t.Errorf("interrupted cell: got %+v, %v; want status error, KeyboardInterrupt", reply, err)
	}
	if err := k.Shutdown(ctx, false); err != nil {
		t.Error(err)
	}
}

// TestPythonKernelInAFolder starts a Python kernel in a folder with a file for every module that could be imported. None runs, but a
// cell can import a module that lies there.
func TestPythonKernelInAFolder(t *testing.T) {
	spec, err := client.FindSpec("python3")
	if err != nil {
		testenv.Missing(t, "jupyter", "needs ipykernel: ", err)
	}
	sprung := testenv.Trap(t, testenv.Python(t))
	if err := os.WriteFile("beside_the_notebook.py", []byte("answer = 42\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	k, err := client.Start(ctx, spec, client.Options{})
	if err != nil {
		t.Fatalf("%v; modules of the working folder %q ran", err, sprung())
	}
	defer k.Close()
	reply, err := k.Execute(ctx, "import beside_the_notebook\nassert beside_the_notebook.answer == 42", client.ExecuteOptions{}, nil)
	if err != nil || reply.Status != "ok" {
		t.Errorf("a module next to the notebook: got %+v, %v", reply, err)
	}
	if names := sprung(); len(names) > 0 {
		t.Errorf("got modules of the working folder %q, want none", names)
	}
}
