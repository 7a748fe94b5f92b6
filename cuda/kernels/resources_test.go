package kernels

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

var update = flag.Bool("update", false, "write testdata/resources.txt with the program that PTXAS names")

// architectures are the columns of the table: Ampere, Hopper and Blackwell for data centres, each
// with the bytes of shared memory of a multiprocessor, of CUDA's programming guide, "Technical
// specifications per compute capability". The other limits are equal.
var architectures = []struct {
	name   string
	shared int
}{{"sm_80", 164 << 10}, {"sm_90", 228 << 10}, {"sm_100", 228 << 10}}

// spillMost is the most bytes that a kernel may spill.
const spillMost = 64

// usage is what a kernel takes on an architecture.
type usage struct {
	registers, spills int // spills is the larger of the bytes of stores and of loads
	shared            int // bytes, with what launches add
	occupancy         int // warps that fit on a multiprocessor, in per cent of the most
}

// row is a kernel's line of the table.
type row struct {
	kernel  string
	threads int // the most that a block may have
	usages  []usage
}

// section holds the rows of a module.
type section struct {
	sum  string // of its PTX
	rows []row
}

// occupancy returns the share of 64 warps that fit on a multiprocessor with 65536 registers, given
// in units of 256 to each warp, on four parts. Each block takes 1024 bytes of shared memory for the
// driver.
func occupancy(threads, registers, shared, room int) int {
	const most, blocksMost = 64, 32
	warps := (threads + 31) / 32
	perWarp := (registers*32 + 255) / 256 * 256
	blocks := min(blocksMost, most/warps, 65536/perWarp/4*4/warps, room/((shared+1024+127)/128*128))
	return 100 * blocks * warps / most
}

// added returns the bytes of shared memory that a launch adds.
func added(module, kernel string) int {
	var head, m, n int
	size := 2
	if strings.HasSuffix(module, "tf32") {
		size = 4
	}
	name := strings.TrimRight(kernel, "_kl")
	switch {
	case strings.HasPrefix(module, "attention_"):
		fmt.Sscanf(module, "attention_%d", &head)
		queries, keys := AttentionGradShared(head)
		switch {
		case strings.HasPrefix(kernel, "queries"):
			return queries
		case strings.HasPrefix(kernel, "keys"):
			return keys
		}
		return AttentionShared(head)
	case strings.HasPrefix(kernel, "windowed_"):
		fmt.Sscanf(name, "windowed_%dx%d", &m, &n)
		return WindowedShared(m, n, size)
	}
	return 0
}

var (
	entry     = regexp.MustCompile(`(?s)\.entry (\w+)\(.*?\.maxntid (\d+), 1, 1`)
	compiling = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	spilled   = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	used      = regexp.MustCompile(`Used (\d+) registers`)
	staticly  = regexp.MustCompile(`(\d+) bytes smem`)
)

// assemble returns the usage of each kernel of a module on an architecture.
func assemble(t *testing.T, ptxas, module, arch string, room int) map[string]usage {
	text := PTX(module)
	file := filepath.Join(t.TempDir(), module+".ptx")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas, "-v", "-arch", arch, "-o", os.DevNull, file).CombinedOutput()
	if err != nil {
		t.Fatalf("for %s: %v\n%s", arch, err, out)
	}
	number := func(text []byte) int {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	all, kernel := map[string]usage{}, ""
	for line := range bytes.Lines(out) {
		u := all[kernel]
		if m := compiling.FindSubmatch(line); m != nil {
			kernel = string(m[1])
			continue
		}
		if m := spilled.FindSubmatch(line); m != nil {
			u.spills = max(number(m[1]), number(m[2]))
		}
		if m := used.FindSubmatch(line); m != nil {
			u.registers, u.shared = number(m[1]), added(module, kernel)
			if m := staticly.FindSubmatch(line); m != nil {
				u.shared += number(m[1])
			}
			u.occupancy = occupancy(threadsOf(text)[kernel], u.registers, u.shared, room)
		}
		all[kernel] = u
	}
	delete(all, "")
	return all
}

// threadsOf returns the most threads of a block of each kernel.
func threadsOf(text string) map[string]int {
	all := map[string]int{}
	for _, m := range entry.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2]) // digits
		all[m[1]] = n
	}
	return all
}

// sum returns a checksum of a module's PTX, without its first line, which has that of the sources.
func sum(module string) string {
	_, text, _ := strings.Cut(PTX(module), "\n")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12]
}

const tableFile = "testdata/resources.txt"

// readTable returns the sections by module, and the release of the assembler.
func readTable(t *testing.T) (all map[string]section, release string) {
	text, err := os.ReadFile(tableFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all = map[string]section{}
	module := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#" || words[0] == "kernel":
		case words[0] == "ptxas":
			release = words[1]
		case words[0] == "module":
			module = words[1]
			all[module] = section{sum: words[2]}
		default:
			numbers := make([]int, len(words)-1)
			for i := range numbers {
				if numbers[i], err = strconv.Atoi(words[1+i]); err != nil {
					t.Fatalf("%s: %v", tableFile, err)
				}
			}
			if len(numbers) != 1+4*len(architectures) {
				t.Fatalf("%s: %d numbers of %s; want %d", tableFile, len(numbers), words[0], 1+4*len(architectures))
			}
			r := row{kernel: words[0], threads: numbers[0]}
			for a := range slices.Chunk(numbers[1:], 4) {
				r.usages = append(r.usages, usage{a[0], a[1], a[2], a[3]})
			}
			s := all[module]
			s.rows = append(s.rows, r)
			all[module] = s
		}
	}
	return all, release
}

const tableHead = `# What each kernel takes: registers per thread (reg), bytes spilled (the larger of stores and loads), bytes of shared memory per block,
# with what launches add, and the share of a multiprocessor's 64 warps that fit, in per cent (occ). threads is the most that a block may have.
# A module's line has a checksum of its PTX. PTXAS=… go test ./cuda/kernels -run TestResources -update writes this file.

`

func writeTable(t *testing.T, all map[string]section, release string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%sptxas %s\n\n%-32s %7s", tableHead, release, "kernel", "threads")
	for _, a := range architectures {
		fmt.Fprintf(&b, "   %6s reg spill shared  occ", a.name)
	}
	b.WriteString("\n")
	for _, module := range Modules() {
		fmt.Fprintf(&b, "\nmodule %s %s\n", module, all[module].sum)
		for _, r := range all[module].rows {
			fmt.Fprintf(&b, "%-32s %7d", r.kernel, r.threads)
			for _, u := range r.usages {
				fmt.Fprintf(&b, "   %10d %5d %6d %4d", u.registers, u.spills, u.shared, u.occupancy)
			}
			b.WriteString("\n")
		}
	}
	if err := os.WriteFile(tableFile, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestResources checks that the table is that of the current PTX, and that no kernel spills more than
// spillMost bytes. With NVIDIA's assembler, named by the environment variable PTXAS, it assembles
// each module, which also finds errors that the driver would report, and compares the table: one
// architecture, or with HALFNOTE_REQUIRE=long all, and assembles for the oldest GPUs too.
func TestResources(t *testing.T) {
	ptxas := os.Getenv("PTXAS")
	table, release := readTable(t)
	if *update {
		table, release = assembleAll(t, ptxas, table, release)
		writeTable(t, table, release)
	}
	for _, module := range Modules() {
		if table[module].sum != sum(module) {
			t.Errorf("%s has no rows of the current %s; run: PTXAS=… go test ./cuda/kernels -run TestResources -update", tableFile, module)
		}
		for _, r := range table[module].rows {
			for i, u := range r.usages {
				if u.spills > spillMost {
					t.Errorf("%s in %s spills %d bytes on %s; want at most %d", r.kernel, module, u.spills, architectures[i].name, spillMost)
				}
			}
		}
	}
	if len(table) != len(Modules()) {
		t.Errorf("%s has %d modules, want %d", tableFile, len(table), len(Modules()))
	}
	if *update {
		return
	}
	if ptxas == "" {
		testenv.Missing(t, "ptxas", "needs the path of ptxas in PTXAS, for example that of PyPI's nvidia-cuda-nvcc-cu12; HALFNOTE_REQUIRE=ptxas makes this a failure")
	}
	if got := releaseOf(t, ptxas); got != release {
		t.Errorf("%s is that of ptxas %s, PTXAS is %s; run: go test ./cuda/kernels -run TestResources -update", tableFile, release, got)
	}
	for _, module := range Modules() {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			for i, a := range architectures {
				if i > 0 && !testenv.Requires("long") {
					break
				}
				got := assemble(t, ptxas, module, a.name, a.shared)
				if len(got) != len(table[module].rows) {
					t.Errorf("%d kernels, want %d", len(got), len(table[module].rows))
				}
				for _, r := range table[module].rows {
					if got[r.kernel] != r.usages[i] {
						t.Errorf("%s on %s: got %+v, want %+v", r.kernel, a.name, got[r.kernel], r.usages[i])
					}
				}
			}
			if testenv.Requires("long") { // the oldest GPUs
				_, target, _ := strings.Cut(PTX(module), ".target ")
				target, _, _ = strings.Cut(target, "\n")
				assemble(t, ptxas, module, target, architectures[0].shared)
			}
		})
	}
}

// assembleAll returns the table for the assembler. Sections that are current stay as they are.
func assembleAll(t *testing.T, ptxas string, old map[string]section, release string) (map[string]section, string) {
	now := releaseOf(t, ptxas)
	table := map[string]section{}
	for _, module := range Modules() {
		if s := old[module]; s.sum == sum(module) && now == release {
			table[module] = s
			continue
		}
		s := section{sum: sum(module)}
		for i, a := range architectures {
			all := assemble(t, ptxas, module, a.name, a.shared)
			if i == 0 {
				for _, m := range entry.FindAllStringSubmatch(PTX(module), -1) {
					s.rows = append(s.rows, row{kernel: m[1], threads: threadsOf(m[0])[m[1]]})
				}
			}
			for j := range s.rows {
				s.rows[j].usages = append(s.rows[j].usages, all[s.rows[j].kernel])
			}
		}
		table[module] = s
	}
	return table, now
}

// releaseOf returns the release of an assembler, such as V12.9.86.
func releaseOf(t *testing.T, ptxas string) string {
	out, err := exec.Command(ptxas, "--version").Output()
	if err != nil {
		t.Fatalf("PTXAS=%s: %v", ptxas, err)
	}
	return regexp.MustCompile(`V[\d.]+`).FindString(string(out))
}

// TestOccupancy compares with blocks counted by hand from the limits.
func TestOccupancy(t *testing.T) {
	for _, test := range []struct{ threads, registers, shared, room, want int }{
		{256, 32, 0, 164 << 10, 100},
		{256, 255, 0, 164 << 10, 12},       // one block of 8 warps
		{256, 128, 0, 164 << 10, 25},       // two blocks
		{128, 168, 0, 164 << 10, 18},       // three blocks of 4 warps
		{1024, 64, 0, 228 << 10, 50},       // registers for one block
		{128, 32, 48 << 10, 164 << 10, 18}, // shared memory for three blocks
		{128, 32, 48 << 10, 228 << 10, 25}, // for four
		{32, 16, 0, 228 << 10, 50},         // 32 blocks at most
	} {
		if got := occupancy(test.threads, test.registers, test.shared, test.room); got != test.want {
			t.Errorf("%d threads, %d registers, %d bytes of %d: got %d %%, want %d %%", test.threads, test.registers, test.shared, test.room, got, test.want)
		}
	}
}
