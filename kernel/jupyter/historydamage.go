package jupyter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
)

// Primary result codes of SQLite (https://sqlite.org/rescode.html) for a file that is not a database, or a broken one.
const (
	sqliteCorrupt     = 11
	sqliteNotDatabase = 26
)

// damaged reports whether an error means that the file of the history is damaged. A file that is locked, full or a database of
// something else is not.
func damaged(err error) bool {
	if errors.Is(err, errUnsound) {
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqliteCorrupt || e.Code()&0xff == sqliteNotDatabase)
}

// open opens the database, or one in memory if it cannot be used. A damaged one is moved aside first, so that only one kernel meets
// it. found is the error by which damage was found in an open database, whose file another kernel may have replaced since; it is nil otherwise.
func (h *history) open(found error) (*historyStore, error) {
	s, err := openHistory(h.path)
	if err == nil && damaged(found) {
		if err = s.sound(); err != nil {
			s.close()
		}
	}
	if damaged(err) {
		var aside string
		if aside, err = moveAside(h.path); err == nil {
			h.say("the history was damaged; it is now %s, and a new one begins", aside)
			s, err = openHistory(h.path)
		}
	}
	if err == nil {
		return s, nil
	}
	h.say("%v: the cells of this kernel are kept in memory", err)
	if s, err = openHistory(""); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return s, nil
}

// errUnsound is what SQLite's check of a whole database finds.
var errUnsound = errors.New("damaged")

// sound returns an error if SQLite finds damage.
func (s *historyStore) sound() error {
	var found string
	if err := s.db.QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errUnsound, found)
	}
	return nil
}

// moveAside gives a damaged database another name, with the files that SQLite keeps next to it: a journal of it would damage
// its successor. It returns the name.
func moveAside(path string) (aside string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	aside = path + "-damaged-" + time.Now().Format("20060102-150405")
	if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s exists already", aside)
	}
	for _, suffix := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
	}
	return aside, nil
}

// maxWords is the number of messages about the history that a kernel shows.
const maxWords = 3

// say logs a message about the history and keeps it for the notebook.
func (h *history) say(format string, args ...any) {
	text := fmt.Sprintf("history: "+format, args...)
	h.log.Printf("%s", text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said++; h.said <= maxWords {
		h.words = append(h.words, text)
	}
}

// News returns the messages that no cell has shown.
func (h *history) News() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	words := slices.Clone(h.words)
	h.words = nil
	return words
}
