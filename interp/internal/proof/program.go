package proof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Runner declares the function that runs a cell. It prints a line before and after, so that a cell that stops silently is seen.
const Runner = `func run(name string, f func()) {
	defer func() { if r := recover(); r != nil { fmt.Println("panic:", r) } }()
	fmt.Println("== " + name)
	f()
	fmt.Println("end")
}`

// Program returns a Go program of cells.
func Program(cells []Cell) string {
	var b, calls strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range Packages {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n\n" + used + "\n" + Section("") + "\n" + Runner + "\n")
	for _, name := range sections(cells) {
		b.WriteString(Section(name) + "\n")
	}
	for _, c := range cells {
		fmt.Fprintf(&b, "//line %s:1\n%s\n%s", strings.NewReplacer(" ", "_", "/", ".", ":", "_").Replace(c.Name()), c.Session(), c.Func())
		fmt.Fprintf(&calls, "\trun(%q, %s)\n", c.ID(), c.ID())
	}
	return b.String() + "func main() {\n" + calls.String() + "}\n"
}

// used refers to all packages.
const used = `var _, _, _, _, _, _, _, _, _ = bytes.NewBufferString, errors.New, image.Pt, io.EOF, big.NewInt, http.NotFound, url.Parse, strconv.Itoa, time.Second
var _ sort.IntSlice
var _ iter.Seq[int]
var _ strings.Builder`

// sections returns the names of the sections that cells use, in the order of first use.
func sections(cells []Cell) (names []string) {
	for _, c := range cells {
		for _, name := range c.Uses {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Split separates what cells print, by their identifiers.
func Split(printed string) map[string]string {
	parts := map[string]string{}
	for _, part := range strings.Split("\n"+printed, "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = strings.TrimSuffix(text, "\n")
	}
	return parts
}

// Go builds and runs a program of cells in a folder, and returns what each cell prints by its identifier.
func Go(ctx context.Context, dir string, cells []Cell) (map[string]string, error) {
	file, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "main")
	if err := os.WriteFile(file, []byte(Program(cells)), 0o644); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-gcflags=-e -N -l", "-ldflags=-s -w", "-o", exe, file)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %v\n%.8000s", err, out)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, exe)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v\n%.1000s\n%.3000s", err, out[max(0, len(out)-1000):], &stderr)
	}
	return Split(string(out)), nil
}
