package interp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// serveModules makes Go's command fetch modules from the folder proxy in dir, into the module cache there.
func serveModules(t *testing.T, dir string) {
	t.Helper()
	for name, value := range map[string]string{
		"GOMODCACHE": filepath.Join(dir, "cache"), "GOPROXY": "file://" + filepath.ToSlash(filepath.Join(dir, "proxy")),
		"GOWORK": "", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw", "GO111MODULE": "", "PATH": os.Getenv("PATH"), // cells may change it
	} {
		t.Setenv(name, value)
	}
}

// publish writes the files by which the folder proxy serves the modules in the folder modules, whose names are such as money@v1.2.0 in
// modules/example.com: https://go.dev/ref/mod#goproxy-protocol.
func publish(t *testing.T) {
	t.Helper()
	list, err := filepath.Glob("modules/*/*@*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range list {
		path, version, _ := strings.Cut(filepath.ToSlash(strings.TrimPrefix(dir, "modules"+string(filepath.Separator))), "@")
		to := filepath.Join("proxy", path, "@v")
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			err = os.MkdirAll(to, 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
		z, err := os.Create(filepath.Join(to, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		versions, _ := os.ReadFile(filepath.Join(to, "list"))
		if !strings.Contains(string(versions), version) {
			versions = append(versions, version+"\n"...)
		}
		err = errors.Join(zip.CreateFromDir(z, module.Version{Path: path, Version: version}, dir), z.Close(),
			os.WriteFile(filepath.Join(to, version+".mod"), mod, 0o666),
			os.WriteFile(filepath.Join(to, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o666),
			os.WriteFile(filepath.Join(to, "list"), versions, 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
}
