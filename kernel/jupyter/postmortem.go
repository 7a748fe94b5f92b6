package jupyter

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// postMortem tells a kernel why the one before it died. While a kernel runs, a file next to the history has what it is doing, and
// Go's run-time system writes there why it ends the process. A kernel that ends in order removes its file; whatever else ends it
// leaves the file to the next kernel that has the same key, as after a restart by the front end, or the same notebook.
type postMortem struct {
	mu    sync.Mutex
	file  *os.File // nil if nothing is written
	state lastState
	told  bool   // whether a cell has shown text
	text  string // why the kernel before this one died, or ""
	cell  int    // the cell that it was running, or 0
}

// lastState is what a kernel is doing.
type lastState struct {
	PID      int       `json:"pid"`
	Notebook string    `json:"notebook"` // hash of its name
	Started  time.Time `json:"started"`
	Cell     int       `json:"cell"` // number of the cell that runs, or 0
	Began    time.Time `json:"began"`
	Killed   int       `json:"killed"` // processes that Linux had ended for lack of memory when the kernel started
}

// stateSize is the size of the first part of the file, which has the state. The rest is what the run-time system writes.
const stateSize = 512

// listen takes up what a dead kernel has left next to the history, and prepares the file of this kernel. Without a
// history or a key it does nothing. ended tells how the process of the earlier kernel with this key ended, or is "" if that is not known.
func (l *postMortem) listen(history, key, notebook, ended string) error {
	if history == "" || key == "" {
		return nil
	}
	own := history + ".last-" + shortHash("last words of "+key)
	name := ""
	if notebook != "" {
		name = shortHash(notebook)
	}
	files, _ := filepath.Glob(history + ".last-*")
	for _, file := range files {
		s, words, when, err := readLast(file)
		switch {
		case err != nil, time.Since(when) > seenFor:
			os.Remove(file)
		case file == own, name != "" && s.Notebook == name && gone(s.PID):
			how := ""
			if file == own {
				how = exited(ended)
			}
			l.text, l.cell = s.describe(words, how, when), s.Cell
			os.Remove(file)
		}
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		return err
	}
	if err := private(own); err != nil {
		return err
	}
	f, err := os.OpenFile(own, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file, l.state = f, lastState{PID: os.Getpid(), Notebook: name, Started: time.Now(), Killed: killedForMemory()}
	if err := l.write(); err != nil {
		return err
	}
	if _, err := f.Seek(stateSize, io.SeekStart); err != nil { // the run-time system shares the offset
		return err
	}
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// write writes the state; mu is held.
func (l *postMortem) write() error {
	if l.file == nil {
		return nil
	}
	text, err := json.Marshal(l.state)
	if err != nil || len(text) >= stateSize {
		return fmt.Errorf("kernel: the state has %d bytes, want less than %d", len(text), stateSize)
	}
	_, err = l.file.WriteAt(append(text, bytes.Repeat([]byte{'\n'}, stateSize-len(text))...), 0)
	return err
}

// Begins notes that a cell begins, and returns what the first one shows, unless it is silent.
func (l *postMortem) Begins(cell int, silent bool) (note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Cell, l.state.Began = cell, time.Now()
	_ = l.write() // the cell runs without it
	if !l.told && !silent {
		note, l.told = l.text, true
	}
	return note
}

// Ends notes that no cell runs.
func (l *postMortem) Ends() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Cell = 0
	_ = l.write()
}

// Stops removes the file: the kernel ends in order.
func (l *postMortem) Stops() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	l.file.Close()
	os.Remove(l.file.Name())
	l.file = nil
}

// readLast reads a file: the state of a kernel, what the run-time system wrote, and when the file was last written to.
func readLast(file string) (s lastState, words string, when time.Time, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return s, "", when, err
	}
	f, err := os.Open(file)
	if err != nil {
		return s, "", when, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return s, "", when, err
	}
	n := min(len(text), stateSize)
	if err := json.Unmarshal(bytes.TrimSpace(text[:n]), &s); err != nil {
		return s, "", when, err
	}
	return s, reason(string(text[n:])), info.ModTime(), nil
}

// reason says why the run-time system ended a process, or returns "". Of a fatal error the file has only the functions that led to it.
func reason(words string) string {
	if strings.TrimSpace(words) == "" {
		return ""
	}
	function := ""
	running := false
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "SIG") {
			return shortened(line)
		}
		for _, c := range causes {
			if strings.HasPrefix(line, c.function+"(") {
				return "fatal error: " + c.text
			}
		}
		if name, _, ok := strings.Cut(line, "("); running && ok && function == "" && !strings.HasPrefix(name, "runtime.") {
			function = name
		}
		running = running || strings.HasPrefix(line, "goroutine ")
	}
	return shortened("fatal error in " + cmp.Or(function, "Go's run-time system"))
}

// causes are functions that end the process, or call what does, and why they do.
var causes = []struct{ function, text string }{
	{"internal/runtime/maps.fatal", "concurrent use of a map"},
	{"internal/sync.fatal", "unlock of an unlocked mutex"},
	{"runtime.(*mcache).allocLarge", "out of memory"},
	{"runtime.(*mheap).grow", "out of memory"},
	{"runtime.newstack", "stack overflow"},
	{"runtime.stackalloc", "out of memory"},
	{"runtime.sysMapOS", "out of memory"},
	{"sync.fatal", "unlock of an unlocked RWMutex"},
}

func shortened(line string) string {
	const most = 300
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// exited says how a process ended: its exit status, or the number of the signal that ended it, with a minus. It returns "" for anything else.
func exited(status string) string {
	n, err := strconv.Atoi(status)
	switch {
	case err != nil:
		return ""
	case n < 0:
		return fmt.Sprintf("signal %d (%v) ended its process", -n, syscall.Signal(-n))
	}
	return fmt.Sprintf("its process exited with status %d", n)
}

// describe says in a sentence how a kernel ended that was in the state s at last. how is known only if what started it tells.
func (s lastState) describe(words, how string, when time.Time) string {
	what := "while no cell ran"
	if s.Cell > 0 {
		what = fmt.Sprintf("while In[%d] ran", s.Cell)
	}
	const clock = "15:04"
	text := fmt.Sprintf("the kernel of %s ended at %s %s: %s", s.Started.Format(clock), when.Format(clock), what, words)
	if words == "" {
		if s.Cell > 0 {
			what += ", which began at " + s.Began.Format(clock)
		}
		text = fmt.Sprintf("the kernel of %s ended suddenly %s, as by kill -9", s.Started.Format(clock), what)
		if how != "" {
			text = fmt.Sprintf("the kernel of %s ended suddenly %s: %s", s.Started.Format(clock), what, how)
		}
		if n := killedForMemory() - s.Killed; n > 0 {
			text += "; since it started, the system has ended a process because its memory ran out"
		}
	}
	return text + ". Its variables are lost; %output ~1 lists the outputs that are kept"
}

// killedForMemory returns how many processes Linux has ended because memory ran out, or 0 elsewhere.
func killedForMemory() int {
	f, err := os.Open("/proc/vmstat")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if n, ok := strings.CutPrefix(s.Text(), "oom_kill "); ok {
			killed, _ := strconv.Atoi(n)
			return killed
		}
	}
	return 0
}

// shortHash returns 16 digits of a hash.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
