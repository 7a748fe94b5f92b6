package install

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// installer reads what pip or uv prints while it installs packages.
type installer struct {
	mu        sync.Mutex
	line      []byte             // what came after the last newline
	all       int                // packages that are wanted
	begun     int                // packages that pip has begun to fetch
	coming    map[string]float64 // sizes of downloads that are under way, in MB, by package
	fetched   float64            // MB that have arrived
	unpacking bool
}

var (
	pinned      = regexp.MustCompile(`(?m)^[^\s#=]+==`)                                                   // a package in a list of requirements
	resolvedBy  = regexp.MustCompile(`^Resolved (\d+) packages? in `)                                     // uv
	collects    = regexp.MustCompile(`^Collecting ([^ ]+)`)                                               // pip, one package after the other
	downloads   = regexp.MustCompile(`^(\s*)(?:Downloading|Using cached) (\S+) \(([\d.]+) ?([kMG])i?B\)`) // both; pip's is indented
	downloaded  = regexp.MustCompile(`^ Downloaded (\S+)$`)                                               // uv
	unpacks     = regexp.MustCompile(`^(?:Prepared \d+ packages? in |Installing collected packages: )`)
	otherSystem = regexp.MustCompile(`^Ignoring \S+: markers `) // pip
)

// Write reads a part of the output.
func (p *installer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(string(p.line)+string(b), "\n")
	for _, line := range lines[:len(lines)-1] {
		p.read(strings.TrimSuffix(line, "\r"))
	}
	p.line = []byte(lines[len(lines)-1])
	return len(b), nil
}

func (p *installer) read(line string) {
	switch {
	case otherSystem.MatchString(line):
		p.all-- // a package of the list that other systems need
	case collects.MatchString(line):
		p.begun++
		p.arrived(pipsFile) // pip fetches one file after the other
	case unpacks.MatchString(line):
		p.unpacking = true
	}
	if m := resolvedBy.FindStringSubmatch(line); m != nil {
		p.all, _ = strconv.Atoi(m[1])
	}
	if m := downloaded.FindStringSubmatch(line); m != nil {
		p.arrived(m[1])
	}
	if m := downloads.FindStringSubmatch(line); m != nil {
		size, _ := strconv.ParseFloat(m[3], 64)
		name := m[2]
		if m[1] != "" {
			name = pipsFile
		}
		p.coming[name] += size * map[string]float64{"k": 1e-3, "M": 1, "G": 1e3}[m[4]]
	}
}

// pipsFile stands for the file that pip fetches.
const pipsFile = ""

// newInstaller returns the installer of a list of requirements.
func newInstaller(requirements string) *installer {
	return &installer{all: len(pinned.FindAllString(requirements, -1)), coming: map[string]float64{}}
}

func (p *installer) arrived(name string) {
	p.fetched += p.coming[name]
	delete(p.coming, name)
}

// stage says what the installation of packages into a folder is at.
func (p *installer) stage(what, dir string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := p.fetched
	for _, size := range p.coming {
		total += size
	}
	switch {
	case p.unpacking:
		return fmt.Sprintf("Installing %s: %d MB so far …", what, megabytes(dir))
	case p.begun > 0: // pip knows a file's size when it comes to it
		return fmt.Sprintf("Downloading %s: package %d of %d, %.0f MB so far …", what, p.begun, p.all, p.fetched)
	case total > 0: // uv names files of more than a megabyte, all at the beginning
		return fmt.Sprintf("Downloading %s: %d packages, %.0f of %.0f MB …", what, p.all, p.fetched, total)
	}
	return "Downloading " + what + " …"
}

// megabytes returns the size of the files below a folder, in which files may come and go.
func megabytes(dir string) int64 {
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes >> 20
}
