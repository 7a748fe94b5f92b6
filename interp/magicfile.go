package interp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/text"
	"halfnote/kernel"
)

// magicWritefile writes the cell's body to a file.
func (s *Session) magicWritefile(c call) kernel.Result {
	file, added := strings.CutPrefix(c.args, "-a ")
	file = expandHome(file)
	if file == "" || file == "-a" {
		return s.wrong(c, "%%%%writefile: want a file name")
	}
	return s.writeFile(c, "%%writefile", file, c.body, added)
}

// writeFile writes or appends a text to a file, for a magic, and says what it did.
func (s *Session) writeFile(c call, magic, file, text string, added bool) kernel.Result {
	what, flag := "writing", os.O_TRUNC
	if added {
		what, flag = "appending to", os.O_APPEND
	} else if _, err := os.Stat(file); err == nil {
		what = "overwriting"
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return s.wrong(c, "%s: %v", magic, err)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return s.wrong(c, "%s: %v", magic, err)
	}
	fmt.Fprintln(c.out.Stdout(), what, file)
	return kernel.Result{}
}

// magicExport writes the cells that have run to a file as a program.
func (s *Session) magicExport(c call) kernel.Result {
	file := expandHome(c.args)
	if !strings.HasSuffix(file, ".go") {
		return s.wrong(c, "%%export %s: want a file name that ends in .go", c.args)
	}
	src, err := Export(s.ran)
	if len(src) > 0 {
		err = errors.Join(err, os.WriteFile(file, src, 0o666))
	}
	if err != nil {
		return s.wrong(c, "%%export: %v", strings.TrimPrefix(err.Error(), "interp: export: "))
	}
	fmt.Fprintf(c.out.Stdout(), "writing %s\n%s", file, GoModHint(file, src, s.opts.Release))
	return kernel.Result{}
}

// GoModHint returns the lines that the go.mod of an exported program needs to find
// this module's packages, or "".
func GoModHint(file string, src []byte, release string) string {
	if !bytes.Contains(src, []byte("\"halfnote/")) {
		return ""
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if bytes.Contains(data, []byte("module halfnote\n")) || bytes.Contains(data, []byte("halfnote v")) {
				return ""
			}
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return fmt.Sprintf("add to its go.mod, with the folder of halfnote's source for FOLDER:\n\trequire halfnote v%s\n\treplace halfnote => FOLDER\n", release)
}

// magicLoad replaces the cell with the contents of a file, below a comment that names
// the source.
func (s *Session) magicLoad(c call) kernel.Result {
	file, cell := c.args, 0
	if name, last, ok := cutLastWord(file); ok && strings.HasSuffix(name, ".ipynb") {
		n, err := strconv.Atoi(last)
		if err != nil || n < 1 {
			return s.wrong(c, "%%load %s: want the number of a code cell, from 1, after the notebook's name", c.args)
		}
		file, cell = name, n
	}
	if file == "" {
		return s.wrong(c, "%%load: want a file name")
	}
	data, err := os.ReadFile(expandHome(file))
	if err != nil {
		return s.wrong(c, "%%load: %v", err)
	}
	text := string(data)
	if strings.HasSuffix(file, ".ipynb") {
		if text, err = codeCell(data, cell); err != nil {
			return s.wrong(c, "%%load %s: %v", c.args, err)
		}
	}
	return kernel.Result{Payload: []kernel.Payload{{
		Source: "set_next_input", Text: "// %load " + c.args + "\n" + strings.TrimRight(text, "\n"), Replace: true,
	}}}
}

func cutLastWord(text string) (before, last string, ok bool) {
	i := strings.LastIndexAny(text, " \t")
	if i < 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:i]), text[i+1:], true
}

// codeCell returns the source of the n-th code cell of a notebook of format 4.
func codeCell(notebook []byte, n int) (string, error) {
	cells, err := codeCells(notebook)
	if err != nil {
		return "", err
	}
	if n < 1 || n > len(cells) {
		return "", fmt.Errorf("the notebook has %s; want the number of a cell after its name", text.Count(len(cells), "code cell"))
	}
	return cells[n-1], nil
}

// codeCells returns the sources of the code cells of a notebook of format 4.
func codeCells(notebook []byte) ([]string, error) {
	var nb struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage // a string or a list of lines
		}
	}
	if err := json.Unmarshal(notebook, &nb); err != nil {
		return nil, fmt.Errorf("the file is not a notebook: %w", err)
	}
	var cells []string
	for _, c := range nb.Cells {
		if c.Type != "code" {
			continue
		}
		var lines []string
		if json.Unmarshal(c.Source, &lines) != nil {
			var text string
			if err := json.Unmarshal(c.Source, &text); err != nil {
				return nil, err
			}
			lines = []string{text}
		}
		cells = append(cells, strings.Join(lines, ""))
	}
	return cells, nil
}

// magicCd changes the working folder of the process, for cells and commands alike.
func (s *Session) magicCd(c call) kernel.Result {
	was, _ := os.Getwd()
	to := c.args
	switch to {
	case "":
		to = "~"
	case "-":
		if s.lastDir == "" {
			return s.wrong(c, "%%cd -: there is no previous folder")
		}
		to = s.lastDir
	}
	if err := os.Chdir(expandHome(strings.Trim(to, `"'`))); err != nil {
		return s.wrong(c, "%%cd: %v", err)
	}
	s.lastDir = was
	now, _ := os.Getwd()
	fmt.Fprintln(c.out.Stdout(), now)
	return kernel.Result{}
}

func (s *Session) magicPwd(c call) kernel.Result {
	dir, err := os.Getwd()
	if err != nil {
		return s.wrong(c, "%%pwd: %v", err)
	}
	return shown(dir)
}

// expandHome replaces a leading ~ with the home folder.
func expandHome(file string) string {
	if file != "~" && !strings.HasPrefix(file, "~/") {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return file
	}
	return filepath.Join(home, file[1:])
}

// magicEnv shows and sets environment variables of the process.
func (s *Session) magicEnv(c call) kernel.Result {
	if c.args == "" {
		list := os.Environ()
		slices.Sort(list)
		return shown(strings.Join(list, "\n"))
	}
	i := strings.IndexByte(c.args, '=')
	if j := strings.IndexAny(c.args, " \t"); i < 0 || 0 <= j && j < i && strings.TrimSpace(c.args[j:i]) != "" {
		i = j // NAME VALUE form
	}
	if i < 0 {
		value, ok := os.LookupEnv(c.args)
		if !ok {
			return s.wrong(c, "%%env: environment variable %s is not set", c.args)
		}
		return shown(value)
	}
	name, value := strings.TrimSpace(c.args[:i]), strings.TrimSpace(c.args[i+1:])
	if err := os.Setenv(name, value); err != nil {
		return s.wrong(c, "%%env %s: %v", c.args, err)
	}
	fmt.Fprintf(c.out.Stdout(), "env: %s=%s\n", name, value)
	return kernel.Result{}
}
