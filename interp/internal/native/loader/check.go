package loader

import (
	"fmt"
	"runtime"
	"strings"
)

// releases are the releases of Go whose runtimes this package knows. Build constraints choose the one that builds the
// program: layout126.go and layout127.go have what differs.
var releases = []string{"go1.26", "go1.27"}

// Check returns an error unless objects can be loaded into a program that the given version
// of Go has built for this system.
func Check(version string) error {
	return check(runtime.GOOS, runtime.GOARCH, version)
}

func check(goos, goarch, version string) error {
	if _, ok := archs[goarch]; !ok || goos != "linux" {
		return fmt.Errorf("compiled cells need linux/amd64 or linux/arm64, and this is %s/%s", goos, goarch)
	}
	for _, release := range releases {
		if minor, ok := strings.CutPrefix(version, release); ok && (minor == "" || minor[0] == '.' && strings.Trim(minor[1:], "0123456789") == "") {
			return nil
		}
	}
	return fmt.Errorf("compiled cells need %s without experiments, and this program was built by %s", strings.Join(releases, " or "), version)
}

// MissingError lists symbols that the program lacks, often because the linker has omitted
// functions whose calls have all been inlined.
type MissingError struct{ Names []string }

func (e *MissingError) Error() string {
	return "the program has no " + strings.Join(e.Names, ", ")
}
