package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func writeSpec(t *testing.T, dir, name, text string) {
	t.Helper()
	dir = filepath.Join(dir, "kernels", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindSpec(t *testing.T) {
	first, second, user := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("JUPYTER_PATH", first+string(filepath.ListSeparator)+second)
	t.Setenv("JUPYTER_DATA_DIR", user)
	writeSpec(t, first, "shared", `{"argv":["first"]}`)
	writeSpec(t, second, "shared", `{"argv":["second"]}`)
	writeSpec(t, first, "empty", "")
	writeSpec(t, second, "empty", `{"argv":["second"]}`)
	writeSpec(t, user, "Mine", `{"argv":["mine","{resource_dir}/x"],"interrupt_mode":"message","env":{"A":"b"},"display_name":"Mine","language":"go","new":1}`)
	writeSpec(t, first, "broken", `{`)
	writeSpec(t, first, "bare", `{"argv":[]}`)
	for _, tt := range []struct{ name, command, err string }{
		{"shared", "first", ""},
		{"empty", "second", ""},
		{"mine", "mine", ""},
		{"broken", "", "kernel.json: unexpected end"},
		{"bare", "", "argv is empty"},
		{"none", "", `kernelspec "none": not found in kernels/ of ` + first},
	} {
		s, err := FindSpec(tt.name)
		if tt.err == "" && (err != nil || s.Argv[0] != tt.command) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: got %v, error %v; want %s%s", tt.name, s.Argv, err, tt.command, tt.err)
		}
	}
	s, _ := FindSpec("mine")
	argv, env := s.command("c.json", []string{"X=y"})
	if want := filepath.Join(user, "kernels", "Mine") + "/x"; argv[1] != want {
		t.Errorf("got %s, want %s", argv[1], want)
	}
	if !slices.Contains(env, "A=b") || env[len(env)-1] != "X=y" {
		t.Errorf("environment %v", env[len(env)-3:])
	}
}

func TestElsewhere(t *testing.T) {
	const run = "-c import sys; sys.path[:] = [folder for folder in sys.path if folder]; import runpy; runpy.run_module('%s', run_name='__main__', alter_sys=True)"
	for _, c := range []struct{ command, want string }{
		{"/usr/bin/python3 -m ipykernel_launcher -f c.json", "/usr/bin/python3 " + strings.ReplaceAll(run, "%s", "ipykernel_launcher") + " -f c.json"},
		{"python -Xfrozen_modules=off -m xeus.main", "python -Xfrozen_modules=off " + strings.ReplaceAll(run, "%s", "xeus.main")},
		{"python.exe -m k", "python.exe " + strings.ReplaceAll(run, "%s", "k")},
		{"pypy3.10 -su -m k -m x", "pypy3.10 -su " + strings.ReplaceAll(run, "%s", "k") + " -m x"},
		{"python3 script.py -m k", "python3 script.py -m k"},
		{"python3 -c pass -m k", "python3 -c pass -m k"},
		{"python3 -m", "python3 -m"},
		{"python3 -m k'x", "python3 -m k'x"},
		{"python3", "python3"},
		{"/opt/halfnote -m k", "/opt/halfnote -m k"},
		{"/opt/python-kernel -m k", "/opt/python-kernel -m k"},
	} {
		if got := strings.Join(elsewhere(strings.Fields(c.command)), " "); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.command, got, c.want)
		}
	}
}

func TestSupportedEncryption(t *testing.T) {
	for _, tt := range []struct {
		metadata string
		want     bool
	}{
		{`{"supported_encryption":["curve"]}`, true},
		{`{"supported_encryption":["other","curve"]}`, true},
		{`{"supported_encryption":"curve","debugger":true}`, true},
		{`{"supported_encryption":["other"]}`, false},
		{`{"supported_encryption":{"curve":1}}`, false},
		{`{}`, false},
		{`null`, false},
	} {
		dir := t.TempDir()
		writeSpec(t, dir, "k", `{"argv":["k"],"metadata":`+tt.metadata+`}`)
		s, err := ReadSpec(filepath.Join(dir, "kernels", "k"))
		if err != nil || s.supportsCurve() != tt.want {
			t.Errorf("%s: got %v, %v, want %v", tt.metadata, s.supportsCurve(), err, tt.want)
		}
		for value, want := range map[string]bool{"": false, "disabled": false, "auto": tt.want, "required": true, "on": true} {
			got, err := Options{TransportEncryption: value}.encrypts(s)
			if refuses := value == "on" || value == "required" && !tt.want; (err != nil) != refuses || err == nil && got != want {
				t.Errorf("%s with %q: got %v, %v, want %v", tt.metadata, value, got, err, want)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	t.Setenv("KNOWN", "value")
	for in, want := range map[string]string{
		"plain": "plain", "${KNOWN}": "value", "a${KNOWN}b${KNOWN}": "avaluebvalue", "$KNOWN": "$KNOWN",
		"${UNKNOWN_}": "${UNKNOWN_}", "${KNOWN": "${KNOWN", "${UNKNOWN_}${KNOWN}": "${UNKNOWN_}value",
	} {
		if got := expand(in); got != want {
			t.Errorf("expand(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPython(t *testing.T) {
	prefix := t.TempDir()
	bin := filepath.Join(prefix, "bin", "python3")
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(prefix, "share", "jupyter", "kernels", "k"), filepath.Join(prefix, "kernels", "k")
	for _, tt := range []struct{ dir, command, want string }{
		{in, "python", bin}, {in, "python3", bin}, {in, "/usr/bin/python", "/usr/bin/python"}, {in, "go", "go"}, {out, "python", "python"},
	} {
		if got := (Spec{ResourceDir: tt.dir}).python(tt.command); got != tt.want {
			t.Errorf("%s in %s: got %s, want %s", tt.command, tt.dir, got, tt.want)
		}
	}
}
