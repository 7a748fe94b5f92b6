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
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
