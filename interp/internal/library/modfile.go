package library

import (
	"cmp"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// modFile is the content of a go.mod or go.work file:
// https://go.dev/ref/mod#go-mod-file.
type modFile struct {
	dir       string
	module    string
	goVersion string
	require   []module
	replace   map[string]module // by "path" or "path@version"
	exclude   []module
	use       []string
}

// module is a version of a module; a replacement without a version is a directory.
type module struct{ path, version string }

// noVersion is the language version of modules that do not specify one.
const noVersion = "1.16"

func (m *modFile) language() string { return cmp.Or(m.goVersion, noVersion) }

// readMod reads a go.mod or go.work file.
func readMod(file string) (*modFile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := &modFile{dir: filepath.Dir(file), replace: map[string]module{}}
	block := ""
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		words, err := modWords(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		switch {
		case len(words) == 0:
			continue
		case block != "" && words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		}
		if !m.directive(words) {
			return nil, fmt.Errorf("%s:%d: invalid line %q", file, n, strings.TrimSpace(line))
		}
	}
	return m, nil
}

// directive reads one line; ok is false if the line is invalid.
func (m *modFile) directive(w []string) (ok bool) {
	switch verb, args := w[0], w[1:]; verb {
	case "module":
		if ok = len(args) == 1; ok {
			m.module = args[0]
		}
	case "go":
		if ok = len(args) == 1; ok {
			m.goVersion = args[0]
		}
	case "require":
		if ok = len(args) == 2; ok {
			m.require = append(m.require, module{args[0], args[1]})
		}
	case "exclude":
		if ok = len(args) == 2; ok {
			m.exclude = append(m.exclude, module{args[0], args[1]})
		}
	case "use":
		if ok = len(args) == 1; ok {
			m.use = append(m.use, args[0])
		}
	case "replace":
		old, now, found := strings.Cut(strings.Join(args, "\n"), "\n=>\n")
		o, r := strings.Split(old, "\n"), strings.Split(now, "\n")
		if ok = found && len(o) <= 2 && len(r) <= 2; ok {
			m.replace[strings.Join(o, "@")] = module{r[0], strings.Join(r[1:], "")}
		}
	default: // toolchain, tool, retract, godebug and future directives
		ok = true
	}
	return ok
}

// modWords splits a line into words, without its comment.
func modWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//"); line = strings.TrimSpace(line) {
		if line[0] == '"' || line[0] == '`' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("unterminated quote: %s", line)
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			words, line = append(words, word), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t\r")
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if c := strings.Index(word, "//"); c >= 0 {
			word, line = word[:c], ""
		} else {
			line = line[end:]
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return words, nil
}

// complete reports whether a go.mod of that language version lists all modules that its
// packages need: https://go.dev/ref/mod#graph-pruning.
func complete(goVersion string) bool { return version.Compare("go"+goVersion, "go1.17") >= 0 }

// compareVersions orders versions of a module: https://semver.org, section 11.
func compareVersions(a, b string) int {
	a, _, _ = strings.Cut(strings.TrimPrefix(a, "v"), "+")
	b, _, _ = strings.Cut(strings.TrimPrefix(b, "v"), "+")
	a, preA, isPreA := strings.Cut(a, "-")
	b, preB, isPreB := strings.Cut(b, "-")
	if c := compareParts(a, b); c != 0 {
		return c
	}
	if isPreA != isPreB {
		if isPreA {
			return -1
		}
		return 1
	}
	return compareParts(preA, preB)
}

func compareParts(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, errM := strconv.Atoi(x[i])
		n, errN := strconv.Atoi(y[i])
		var c int
		switch {
		case errM == nil && errN == nil:
			c = cmp.Compare(m, n)
		case errM == nil:
			c = -1 // numbers come before words
		case errN == nil:
			c = 1
		default:
			c = strings.Compare(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}
