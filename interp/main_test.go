package interp

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain runs twice as many parallel tests as there are processors, because several scripts
// only wait for timers. The flag -parallel overrides it. Commands in scripts write English, also where the user's
// language is another, or is not installed.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Setenv("LC_ALL", "C")
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	os.Exit(m.Run())
}
