package release

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"halfnote/internal/testenv"
)

const root = "../.."

// toFillIn marks what only the publisher knows.
const toFillIn = "To be filled in before the project is published"

// hosts are those that files for the public may name. example.com stands for the host of the sources.
var hosts = []string{"example.com", "aka.ms"}

var (
	address = regexp.MustCompile(`https?://[^\s)"'>]+`)
	mail    = regexp.MustCompile(`[\w.+-]+@[\w-]+\.[a-z]{2,}`)
	zeros   = strings.Repeat("0", 64) // in the place of a checksum
)

// TestPublished checks that files for the public invent no address, and that each stand-in is marked.
func TestPublished(t *testing.T) {
	n := 0
	for _, name := range testenv.Tracked(t, root) {
		switch {
		case strings.HasPrefix(name, ".github/"), strings.HasPrefix(name, "install/recipes/"):
		case slices.Contains([]string{"SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "docs/stability.md"}, name):
		default:
			continue
		}
		n++
		text := read(t, name)
		marked := strings.Contains(text, toFillIn)
		if found := mail.FindString(text); found != "" {
			t.Errorf("%s: the address %s; only the publisher knows one", name, found)
		}
		for _, found := range address.FindAllString(text, -1) {
			u, err := url.Parse(found)
			if err != nil || !slices.Contains(hosts, u.Host) {
				t.Errorf("%s: %s: its host is not among %q", name, found, hosts)
			}
			if u != nil && u.Host == "example.com" && !marked {
				t.Errorf("%s: %s stands for another address; say %q", name, found, toFillIn)
			}
		}
		if strings.Contains(text, zeros) && !marked {
			t.Errorf("%s: say %q of the checksum", name, toFillIn)
		}
	}
	if n < 12 {
		t.Errorf("got %d files, want all", n)
	}
	for _, name := range []string{"SECURITY.md", "CODE_OF_CONDUCT.md"} {
		if !strings.Contains(read(t, name), toFillIn) {
			t.Errorf("%s: it has no private way to the maintainers: say %q, or delete this line once it has one", name, toFillIn)
		}
	}
	if !strings.Contains(read(t, "CONTRIBUTING.md"), toFillIn) {
		t.Errorf("CONTRIBUTING.md does not say how to find what is %q", toFillIn)
	}
}

// TestCitation compares the citation with the release and the licence.
func TestCitation(t *testing.T) {
	var c struct {
		Format                                           string `yaml:"cff-version"`
		Title, Message, Type, Abstract, Version, License string
		Authors                                          []struct{ Name string }
		Keywords                                         []string
	}
	decode(t, "CITATION.cff", &c)
	license := read(t, "LICENSE")
	if c.Format != "1.2.0" || c.Title != "halfnote" || c.Message == "" || c.Type != "software" || c.Version != Version {
		t.Errorf("got %+v, want version %s", c, Version)
	}
	if c.License != "BSD-3-Clause" || !strings.HasPrefix(license, "BSD 3-Clause License") || len(c.Authors) != 1 || !strings.Contains(license, ", "+c.Authors[0].Name+"\n") {
		t.Errorf("the licence is %s of %v, want that of LICENSE", c.License, c.Authors)
	}
}

// TestForms checks the forms for issues by the rules of their format.
func TestForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("got %q, %v", files, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if path.Base(filepath.ToSlash(file)) == "config.yml" {
			continue
		}
		var f struct {
			Name, Description string
			Labels            []string
			Body              []struct {
				Type, ID   string
				Attributes struct {
					Label, Description, Value, Render string
					Options                           []string
				}
				Validations struct{ Required bool }
			}
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		decode(t, name, &f)
		if f.Name == "" || f.Description == "" || names[f.Name] {
			t.Errorf("%s: the name %q is missing or taken, or the description is", name, f.Name)
		}
		names[f.Name] = true
		ids := map[string]bool{}
		for _, field := range f.Body {
			a := field.Attributes
			switch {
			case field.Type == "markdown" && a.Value != "":
				continue
			case field.Type == "dropdown" && len(a.Options) > 1, field.Type == "textarea" && len(a.Options) == 0:
			default:
				t.Errorf("%s: %s: a field of type %q without what it needs", name, field.ID, field.Type)
			}
			if a.Label == "" || field.ID == "" || ids[field.ID] {
				t.Errorf("%s: a field without a label, or the id %q is missing or taken", name, field.ID)
			}
			ids[field.ID] = true
		}
		if !ids["doctor"] || !ids["want"] {
			t.Errorf("%s: it does not ask for what was expected, or for the output of halfnote doctor", name)
		}
	}
}

// TestStability compares the page with the packages that cells can import, and with what builds and tests name.
func TestStability(t *testing.T) {
	page := read(t, "docs/stability.md")
	packages := regexp.MustCompile(`"halfnote/([^"]+)"`).FindAllStringSubmatch(read(t, "interp/internal/exports/list/list.go"), -1)
	if len(packages) < 10 {
		t.Fatalf("got %d packages in the list, want all", len(packages))
	}
	for _, p := range packages {
		if !strings.Contains(page, "`"+p[1]+"`") {
			t.Errorf("it does not say what is promised of package %s", p[1])
		}
	}
	for _, tt := range []struct{ file, pattern, words string }{
		{"go.mod", `(?m)^go (\d+\.\d+)`, "the two newest releases: %s"},
		{"internal/wheel/main_test.go", `"go1\.\d+": "12_0", "go(\d+\.\d+)": "13_0"`, "13 with Go %s"},
		{"install/distribution.go", `Requires-Python: >=(\d+\.\d+)`, "for wheels %s or newer"},
		{"install/distribution.go", `jupyterlab>=(\d+\.\d+);`, "JupyterLab %s or newer"},
		{"install/lab-constraints.txt", `(?m)^jupyterlab==(\d+\.\d+)`, "| JupyterLab %s,"},
		{"kernel/message.go", `ProtocolVersion = "(.*)"`, "protocol %s;"},
		{"install/python.go", `pinned packages accept: (\d+\.\d+)`, "`halfnote lab` %s or newer"},
		{"internal/wheel/platform.go", `manylinux_(2_\d+)_x86_64`, "glibc %s or newer"},
	} {
		found := regexp.MustCompile(tt.pattern).FindStringSubmatch(read(t, tt.file))
		if found == nil {
			t.Fatalf("%s: no match for %s", tt.file, tt.pattern)
		}
		if want := strings.Replace(tt.words, "%s", strings.ReplaceAll(found[1], "_", "."), 1); !strings.Contains(page, want) {
			t.Errorf("it does not say %q, as %s does", want, tt.file)
		}
	}
}

// read returns the text of a file below the root.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decode reads a file of YAML whose fields are those of v.
func decode(t *testing.T, name string, v any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, name)))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
