package install

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// minPython is the oldest Python that the pinned packages accept: 3.10.
const minPython = 10

// python is a Python interpreter and its description of itself.
type python struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Minor   int    `json:"-"`
	// Venv reports whether the interpreter can make virtual environments with pip.
	// Debian's cannot until python3-venv is installed.
	Venv bool `json:"venv"`
}

// launcherVar is the environment variable by which the command of the wheel names its Python.
const launcherVar = "HALFNOTE_PYTHON"

// pythonNames returns the commands to try, as argument lists. If preferred, the value of
// the variable PYTHON, is set, it is the only one. launcher, if set, is the first.
func pythonNames(goos, preferred, launcher string) [][]string {
	if preferred != "" {
		return [][]string{{preferred}}
	}
	names := [][]string{{"python3"}, {"python"}}
	if launcher != "" {
		names = append([][]string{{launcher}}, names...)
	}
	if goos == "windows" {
		names = append(names, []string{"py", "-3"})
	}
	for minor := 14; minor >= minPython; minor-- {
		names = append(names, []string{fmt.Sprintf("python3.%d", minor)})
	}
	return names
}

// pythonProbe prints the fields of python as JSON.
const pythonProbe = `
import json, sys
try:
    import ensurepip, venv
    ok = True
except ImportError:
    ok = False
print(json.dumps({"path": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "venv": ok}))
`

// isolated returns a command of Python that imports nothing from the working folder, which may be anyone's: a file json.py
// there would run in place of the library's. Python has -I since 3.4.
func isolated(ctx context.Context, command []string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, command[0], slices.Concat(command[1:], []string{"-I"}, args)...)
}

func askPython(ctx context.Context, command []string) (python, error) {
	out, err := isolated(ctx, command, "-c", pythonProbe).Output()
	if err != nil {
		// Python 2 does not know -I. Asked for its version only, it imports nothing.
		text, failed := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "--version")...).CombinedOutput()
		if version, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "Python 2."); ok && failed == nil {
			return python{Path: command[0], Version: "2." + version}, nil
		}
		return python{}, err
	}
	var p python
	if err := json.Unmarshal(out, &p); err != nil {
		return python{}, fmt.Errorf("%s printed %q; want the JSON that Python 3 prints", strings.Join(command, " "), out)
	}
	var major int
	if _, err := fmt.Sscanf(p.Version, "%d.%d", &major, &p.Minor); err != nil || major != 3 {
		p.Minor = 0
	}
	if p.Path == "" {
		p.Path = command[0]
	}
	return p, nil
}

// findPython returns the first Python that can make the environment. The error names the
// Pythons that were found and the command that installs another.
func findPython(ctx context.Context, what string) (python, error) {
	preferred := os.Getenv("PYTHON")
	var tried, found []string
	var noVenv *python
	for _, command := range pythonNames(runtime.GOOS, preferred, os.Getenv(launcherVar)) {
		name := strings.Join(command, " ")
		p, err := askPython(ctx, command)
		switch {
		case ctx.Err() != nil:
			return python{}, ctx.Err()
		case err != nil:
			tried = append(tried, name)
		case p.Minor < minPython:
			found = append(found, fmt.Sprintf("%s is Python %s", name, p.Version))
		case !p.Venv:
			noVenv = &p
		default:
			return p, nil
		}
	}
	how := packageManager()
	switch {
	case noVenv != nil:
		return python{}, fmt.Errorf("install: %s (Python %s) cannot make virtual environments: its module ensurepip is missing; %s", noVenv.Path, noVenv.Version, how.venv)
	case preferred != "" && found == nil:
		return python{}, fmt.Errorf("install: the variable PYTHON names %q, which does not run as Python", preferred)
	case found != nil:
		return python{}, fmt.Errorf("install: %s needs Python 3.%d or newer, but %s; %s, or name another in the variable PYTHON", what, minPython, strings.Join(found, ", "), how.python)
	}
	return python{}, fmt.Errorf("install: %s needs Python 3.%d or newer, and none was found (tried %s); %s", what, minPython, strings.Join(tried, ", "), how.python)
}

// advice holds the commands that install Python.
type advice struct{ python, venv string }

// packageManager returns the commands of the first package manager that it finds.
func packageManager() advice {
	for _, m := range []struct{ command, python, venv string }{
		{"winget", "winget install Python.Python.3.13", ""},
		{"apt-get", "sudo apt install python3 python3-venv", "sudo apt install python3-venv"},
		{"dnf", "sudo dnf install python3", ""},
		{"pacman", "sudo pacman -S python", ""},
		{"zypper", "sudo zypper install python3 python3-pip", ""},
		{"apk", "sudo apk add python3 py3-pip", ""},
		{"brew", "brew install python", ""},
	} {
		if _, err := exec.LookPath(m.command); err == nil {
			if m.venv == "" {
				m.venv = m.python
			}
			return advice{"install it with `" + m.python + "`", "install it with `" + m.venv + "`"}
		}
	}
	if runtime.GOOS == "darwin" {
		return advice{"install it with `brew install python`, or from python.org", "install a complete Python with `brew install python`, or from python.org"}
	}
	return advice{"install it from python.org", "install a complete Python from python.org"}
}
