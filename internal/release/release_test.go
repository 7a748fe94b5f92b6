package release

import (
	"regexp"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestVersion checks that pages that name the release name this one.
func TestVersion(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (\d\S*?),? `).FindStringSubmatch(read(t, "CHANGELOG.md"))
	if heading == nil || heading[1] != Version {
		t.Errorf("CHANGELOG.md: got the first release %q, want %s", heading, Version)
	}
	file := regexp.MustCompile(`\bhalfnote-(\d+\.\d+\.\d+)`)
	for _, name := range testenv.Tracked(t, root) {
		if strings.HasSuffix(name, ".md") {
			for _, found := range file.FindAllStringSubmatch(read(t, name), -1) {
				if found[1] != Version {
					t.Errorf("%s: got %s, want the release %s", name, found[0], Version)
				}
			}
		}
	}
}
