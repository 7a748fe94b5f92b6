package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"halfnote/install"
	"halfnote/install/wheel"
	"halfnote/internal/release"
)

const recipes = "../../install/recipes/"

// readYAML reads a file of YAML into v, whose fields it may not exceed if strict is true.
func readYAML(t *testing.T, file string, v any, strict bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(strict)
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// oldestGo returns the oldest release of Go that builds the module, such as 1.26.
func oldestGo(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(text)
	if found == nil {
		t.Fatal("go.mod has no line with the release of Go")
	}
	return string(found[1])
}

// TestConda compares the recipe for conda with the wheels that it builds and installs.
func TestConda(t *testing.T) {
	var r struct {
		Schema  int `yaml:"schema_version"`
		Context struct{ Version string }
		Package struct{ Name, Version string }
		Source  struct{ URL, SHA256 string }
		Build   struct {
			Number int
			Skip   []string
			Script []yaml.Node
		}
		Requirements struct{ Build, Host, Run []string }
		Tests        []struct{ Script []string }
		About        struct {
			Homepage, License, Summary string
			LicenseFile                string `yaml:"license_file"`
		}
	}
	readYAML(t, recipes+"conda/recipe.yaml", &r, true)
	w := wheelFor(t, "linux", "py3-none-manylinux_2_17_x86_64")
	if r.Package.Name != w.Name || r.Package.Version != "${{ version }}" || r.Context.Version != release.Version || r.About.Summary != w.Summary {
		t.Errorf("got %s %s, %s: %q; want %s %s: %q", r.Package.Name, r.Package.Version, r.Context.Version, r.About.Summary, w.Name, release.Version, w.Summary)
	}
	if !slices.Contains(w.Headers, "License-Expression: "+r.About.License) {
		t.Errorf("got the licence %s, the wheel has %q", r.About.License, w.Headers)
	}
	if want := []string{"go-nocgo >=" + oldestGo(t)}; !slices.Equal(r.Requirements.Build, want) {
		t.Errorf("it is built with %q, want %q", r.Requirements.Build, want)
	}
	built := regexp.MustCompile(`^go run \./internal/wheel -o wheels (\S+)$`)
	for _, step := range r.Build.Script {
		if step.Kind != yaml.MappingNode {
			if want := "python -m pip install --no-deps --no-index --find-links wheels " + w.Name; step.Value != want {
				t.Errorf("got the step %q, want %q", step.Value, want)
			}
			continue
		}
		var when struct{ If, Then string }
		if err := step.Decode(&when); err != nil {
			t.Fatal(err)
		}
		name := built.FindStringSubmatch(when.Then)
		if name == nil {
			t.Fatalf("%s: got the step %q", when.If, when.Then)
		}
		list, err := choose(name[1:], false)
		if err != nil {
			t.Fatal(err)
		}
		goos := map[string]string{"linux": "linux", "darwin": "osx", "windows": "win"}[list[0].goos]
		if system, _, _ := strings.Cut(when.If, " "); system != goos {
			t.Errorf("%s builds %s", when.If, name[1])
		}
	}
}

// TestHomebrew compares the formula with the program.
func TestHomebrew(t *testing.T) {
	text, err := os.ReadFile(recipes + "homebrew/halfnote.rb")
	if err != nil {
		t.Fatal(err)
	}
	value := func(pattern string) string {
		found := regexp.MustCompile(`(?m)^\s*`+pattern+`$`).FindAllSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("got %d lines %s, want 1", len(found), pattern)
		}
		return string(found[0][1])
	}
	if want := "v" + release.Version + ".tar.gz"; filepath.Base(value(`url "(.*)"`)) != want {
		t.Errorf("the sources are %s, want %s", value(`url "(.*)"`), want)
	}
	if value(`class (\w+) < Formula`) != "Halfnote" || value(`license "(.*)"`) != "BSD-3-Clause" || !strings.HasSuffix(wheelFor(t, "darwin", "py3-none-any").Summary, value(`desc "(.*)"`)) {
		t.Error("the name, the licence or the description is not that of the program")
	}
	if value(`assert_match "(.*)", shell_output.*`) != "halfnote #{version}" {
		t.Error("the test does not compare with what halfnote version prints")
	}
}

// TestWinget compares the manifests with the wheel for Windows, which is the archive that winget unpacks.
func TestWinget(t *testing.T) {
	type manifest struct {
		Identifier string `yaml:"PackageIdentifier"`
		Version    string `yaml:"PackageVersion"`
		Type       string `yaml:"ManifestType"`
		Format     string `yaml:"ManifestVersion"`
		Language   string `yaml:"DefaultLocale"`
		Locale     string `yaml:"PackageLocale"`
		Name       string `yaml:"PackageName"`
		License    string `yaml:"License"`
		Summary    string `yaml:"ShortDescription"`
		Archive    string `yaml:"InstallerType"`
		Nested     []struct {
			Path  string `yaml:"RelativeFilePath"`
			Alias string `yaml:"PortableCommandAlias"`
		} `yaml:"NestedInstallerFiles"`
		Installers []struct {
			Architecture string `yaml:"Architecture"`
			URL          string `yaml:"InstallerUrl"`
		} `yaml:"Installers"`
	}
	w := wheelFor(t, "windows", "py3-none-win_amd64")
	files, err := filepath.Glob(recipes + "winget/*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("got %q, %v; want three manifests", files, err)
	}
	seen := map[string]manifest{}
	for _, file := range files {
		var m manifest
		readYAML(t, file, &m, false)
		seen[m.Type] = m
		name := map[string]string{"version": ".yaml", "installer": ".installer.yaml", "defaultLocale": ".locale." + m.Locale + ".yaml"}[m.Type]
		if m.Version != release.Version || m.Format != "1.6.0" || filepath.Base(file) != m.Identifier+name || !strings.HasSuffix(m.Identifier, ".halfnote") {
			t.Errorf("%s: got %s %s, format %s; want version %s in %s%s", file, m.Identifier, m.Version, m.Format, release.Version, m.Identifier, name)
		}
	}
	if m := seen["defaultLocale"]; seen["version"].Language != m.Locale || m.Name != w.Name || m.Summary != w.Summary || !slices.Contains(w.Headers, "License-Expression: "+m.License) {
		t.Errorf("the text is %+v, the wheel is %s: %s", m, w.Name, w.Summary)
	}
	m := seen["installer"]
	if len(m.Installers) != 1 || len(m.Nested) != 1 || m.Archive != "zip" || m.Nested[0].Alias != "halfnote" {
		t.Fatalf("got %+v", m)
	}
	if got := m.Installers[0]; got.Architecture != "x64" || !strings.HasSuffix(got.URL, "/"+w.FileName()) {
		t.Errorf("it installs %s for %s, want %s", got.URL, got.Architecture, w.FileName())
	}
	program := strings.ReplaceAll(m.Nested[0].Path, `\`, "/")
	if !slices.ContainsFunc(w.Files, func(f wheel.File) bool { return f.Name == program && f.Mode&0o111 != 0 }) {
		t.Errorf("the wheel has no program %s", program)
	}
}

// wheelFor returns the wheel of this release for a system.
func wheelFor(t *testing.T, goos, tag string) wheel.Wheel {
	t.Helper()
	w, err := install.Distribution([]byte("program"), goos, release.Version, []string{tag})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
