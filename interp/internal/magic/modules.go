package magic

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%go", Args: "get MODULE[@VERSION]", Run: runGo,
		Help: "fetches a module, whose packages cells can then import\n" +
			"It runs Go's command go get, which writes the module into the go.mod of the working folder or of one above it, and checksums into go.sum. " +
			"Without a go.mod it makes one. A module that cells cannot import, such as one with cgo, changes nothing. MODULE@none removes a module.",
	})
}

// runGo runs go get, and takes it back if cells could not import what it fetched.
func runGo(c *Call) eval.Result {
	words := strings.Fields(c.Args)
	if len(words) < 2 || words[0] != "get" || slices.ContainsFunc(words, func(w string) bool { return w[0] == '-' || w[0] == '.' }) {
		return c.wrong("%s: want %%go get and paths of modules or packages; !go runs Go's other commands", strings.TrimSpace("%go "+c.Args))
	}
	program, err := exec.LookPath("go")
	if err != nil {
		return c.wrong("%%go get needs Go, and there is no program go on PATH: install Go from go.dev/dl, and start the kernel again")
	}
	mod, err := exec.Command(program, "env", "GOMOD").Output()
	if err != nil {
		return c.wrong("%%go get: go env GOMOD: %v", err)
	}
	file := strings.TrimSpace(string(mod))
	missing := file == "" || file == os.DevNull
	if missing {
		file, _ = filepath.Abs("go.mod")
	}
	restore, err := kept(file, filepath.Join(filepath.Dir(file), "go.sum"))
	if err != nil {
		return c.wrong("%%go get: %v", err)
	}
	r := c.get(program, missing, words[1:])
	if r.Err != nil {
		if err := restore(); err != nil {
			return c.wrong("%%go get: the earlier files cannot be written again: %v", err)
		}
	}
	return r
}

// get runs go get, in a new module if there is none, and checks that cells can import the packages.
func (c *Call) get(program string, missing bool, paths []string) eval.Result {
	if missing {
		if text, err := exec.Command(program, "mod", "init", "notebook").CombinedOutput(); err != nil {
			return c.wrong("%%go get: go mod init: %v: %s", err, bytes.TrimSpace(text))
		}
		fmt.Fprintln(c.Out.Stdout(), "new go.mod in this folder")
	}
	if r := c.command(exec.Command(program, append([]string{"get"}, paths...)...), c.Out.Stdout(), c.Out.Stdout()); r.Err != nil {
		return r
	}
	for _, path := range paths {
		path, version, _ := strings.Cut(path, "@")
		if version == "none" {
			continue
		}
		found, err := c.Importable(path)
		if err != nil {
			return c.wrong("%%go get %s: cells cannot import it, so go.mod stays as it was: %v", path, err)
		}
		fmt.Fprintf(c.Out.Stdout(), "cells can import %q\n", found)
	}
	return eval.Result{}
}

// kept returns a function that gives files the text that they have now, and removes those that do not exist now.
func kept(files ...string) (restore func() error, err error) {
	texts := make([][]byte, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		texts[i] = text
	}
	return func() (err error) {
		for i, file := range files {
			if texts[i] != nil {
				err = errors.Join(err, os.WriteFile(file, texts[i], 0o666))
			} else if failed := os.Remove(file); !errors.Is(failed, os.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
		return err
	}, nil
}
