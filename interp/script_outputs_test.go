package interp

import (
	"go/version"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// outputs are the sections of a script with the expected output of a cell: "out", and "out go1.27" for the output from that
// release of Go on, in the order of the releases.
type outputs []txtar.File

// oldest is the oldest release of Go that builds the program, whose output the section "out" has.
const oldest = "go1.26"

// release returns the release of Go that has built the program, such as go1.27. A development version is of the newest one.
func release() string {
	if lang := version.Lang(runtime.Version()); lang != "" {
		return lang
	}
	return "go1.999"
}

// outputsAfter returns the sections with outputs that a list of sections begins with.
func outputsAfter(files []txtar.File) outputs {
	n := 0
	for n < len(files) && (files[n].Name == "out" || strings.HasPrefix(files[n].Name, "out go1.")) {
		n++
	}
	return files[:n:n]
}

// from returns the release from which on a section holds.
func from(f txtar.File) string {
	_, release, ok := strings.Cut(f.Name, " ")
	if !ok {
		return oldest
	}
	return release
}

// want returns the output for a release, or "".
func (o outputs) want(release string) (text string) {
	for _, f := range o {
		if version.Compare(from(f), release) <= 0 {
			text = string(f.Data)
		}
	}
	return text
}

// updated returns the sections after a run in which the program of a release has printed text: other releases keep theirs.
func (o outputs) updated(release, text string) outputs {
	list := slices.DeleteFunc(slices.Clone(o), func(f txtar.File) bool { return from(f) == release })
	if list.want(release) == text {
		return list
	}
	f := txtar.File{Name: "out", Data: []byte(text)}
	if release != oldest {
		f.Name += " " + release
	}
	i := slices.IndexFunc(list, func(f txtar.File) bool { return version.Compare(from(f), release) > 0 })
	if i < 0 {
		i = len(list)
	}
	return slices.Insert(list, i, f)
}

// TestOutputs checks which sections count for a release, and what -update makes of them.
func TestOutputs(t *testing.T) {
	files := func(text string) outputs { return outputsAfter(txtar.Parse([]byte(text)).Files) }
	for _, tt := range []struct{ sections, release, want, printed, updated string }{
		{"", "go1.26", "", "a\n", "-- out --\na\n"},
		{"", "go1.27", "", "a\n", "-- out go1.27 --\na\n"},
		{"-- out --\na\n-- cell --\n-- out --\nb\n", "go1.26", "a\n", "a\n", "-- out --\na\n"},
		{"-- out --\na\n", "go1.27", "a\n", "a\n", "-- out --\na\n"},
		{"-- out --\na\n", "go1.27", "a\n", "b\n", "-- out --\na\n-- out go1.27 --\nb\n"},
		{"-- out --\na\n", "go1.27", "a\n", "", "-- out --\na\n-- out go1.27 --\n"},
		{"-- out --\na\n-- out go1.27 --\nb\n", "go1.26", "a\n", "c\n", "-- out --\nc\n-- out go1.27 --\nb\n"},
		{"-- out --\na\n-- out go1.27 --\nb\n", "go1.26", "a\n", "", "-- out go1.27 --\nb\n"},
		{"-- out --\na\n-- out go1.27 --\nb\n", "go1.27", "b\n", "a\n", "-- out --\na\n"},
		{"-- out --\na\n-- out go1.27 --\nb\n", "go1.28", "b\n", "b\n", "-- out --\na\n-- out go1.27 --\nb\n"},
		{"-- out --\na\n-- out go1.28 --\nb\n", "go1.27", "a\n", "c\n", "-- out --\na\n-- out go1.27 --\nc\n-- out go1.28 --\nb\n"},
	} {
		o := files(tt.sections)
		if got := o.want(tt.release); got != tt.want {
			t.Errorf("%q, %s: got %q, want %q", tt.sections, tt.release, got, tt.want)
		}
		if got := string(txtar.Format(&txtar.Archive{Files: o.updated(tt.release, tt.printed)})); got != tt.updated {
			t.Errorf("%q, %s, printed %q: got %q, want %q", tt.sections, tt.release, tt.printed, got, tt.updated)
		}
	}
}
