package jupyter

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // SQLite without cgo

	"halfnote/kernel"
)

const pruneEvery = 500 // cells

// historySchema is the part of IPython's history.sqlite that is used: sessions are
// numbered from 1, cells by their execution count.
const historySchema = `
CREATE TABLE IF NOT EXISTS sessions (session INTEGER PRIMARY KEY AUTOINCREMENT, start INTEGER);
CREATE TABLE IF NOT EXISTS cells (
	id INTEGER PRIMARY KEY, session INTEGER, line INTEGER, source TEXT, output TEXT,
	UNIQUE (session, line)
);` + keptSchema

// historyStore is a database of cells, in a file or in memory. Several kernels use
// one file at a time.
type historyStore struct {
	db      *sql.DB
	memory  bool
	session int64 // 0 until a cell is stored: a session without cells has no number
	written int   // cells written since the last prune
	keeping int   // outputs written since the last prune
}

// openHistory opens the database at path, and creates it readable by the user only; ""
// is an in-memory database.
func openHistory(path string) (*historyStore, error) {
	name := ":memory:"
	if path != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := private(path); err != nil {
			return nil, err
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") // C:\ is /C:/
		name = "file://" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=busy_timeout(2000)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection to an in-memory database is a separate database
	s := &historyStore{db: db, memory: path == ""}
	if err := s.begin(func(tx *sql.Tx) error {
		_, err := tx.Exec(historySchema)
		return err
	}); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// private creates the file if it does not exist and removes the permissions of other users. It refuses what is not a regular file.
func private(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		f.Chmod(info.Mode().Perm() &^ 0o077) // another owner's file keeps its mode; Windows has none
	}
	return nil
}

func (s *historyStore) close() { s.db.Close() }

func (s *historyStore) begin(f func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func (s *historyStore) write(notebook string, entries []kernel.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	session := s.session
	err := s.begin(func(tx *sql.Tx) error {
		if session == 0 {
			r, err := tx.Exec("INSERT INTO sessions (start) VALUES (?)", time.Now().Unix())
			if err != nil {
				return err
			}
			if session, err = r.LastInsertId(); err != nil {
				return err
			}
			s.written = pruneEvery
		}
		// Prepared statements, because a run of cells makes many entries and later
		// cells wait for the processor.
		source, err := tx.Prepare("INSERT OR REPLACE INTO cells (source, session, line) VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		defer source.Close()
		result, err := tx.Prepare("UPDATE cells SET output = ? WHERE session = ? AND line = ?")
		if err != nil {
			return err
		}
		defer result.Close()
		for _, e := range entries {
			if e.TooLong() {
				continue
			}
			if e.Kind == kernel.OutputsOf {
				if err := s.keep(tx, session, notebook, e); err != nil {
					return err
				}
				continue
			}
			statement := source
			if e.Kind == kernel.ResultOf {
				statement = result
			}
			if _, err := statement.Exec(e.Text, session, e.Count); err != nil {
				return err
			}
			s.written++
		}
		if s.written < pruneEvery {
			return nil
		}
		s.written = 0
		_, err = tx.Exec(`DELETE FROM cells WHERE id IN (SELECT id FROM
			(SELECT id, row_number() OVER w AS n, sum(octet_length(source) + coalesce(octet_length(output), 0)) OVER w AS bytes
				FROM cells WINDOW w AS (ORDER BY id DESC))
			WHERE n > ? OR bytes > ?)`, kernel.MaxHistoryCells, kernel.MaxHistoryBytes)
		return err
	})
	if err == nil {
		s.session = session
	}
	return err
}

// moveTo copies the readable part of the kernel's session to another store, and closes
// s.
func (s *historyStore) moveTo(to *historyStore) {
	defer s.close()
	if s.session == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	found, err := s.find(ctx, kernel.HistoryQuery{Access: "range"})
	if err != nil {
		return
	}
	var entries []kernel.Entry
	for _, c := range found {
		entries = append(entries, kernel.Entry{Count: c.Count, Text: c.Source})
		if c.Output != nil {
			entries = append(entries, kernel.Entry{Count: c.Count, Text: *c.Output, Kind: kernel.ResultOf})
		}
	}
	to.write("", entries)
}

// find returns the requested cells, oldest first.
func (s *historyStore) find(ctx context.Context, q kernel.HistoryQuery) ([]kernel.HistoryCell, error) {
	switch q.Access {
	case "tail":
		return s.last(ctx, "TRUE", q.Most())
	case "search":
		if q.Unique {
			return s.last(ctx, "id IN (SELECT max(id) FROM cells WHERE source GLOB ? GROUP BY source)", q.Most(), q.Glob())
		}
		return s.last(ctx, "source GLOB ?", q.Most(), q.Glob())
	}
	session := int64(q.Session)
	if session <= 0 {
		current := s.session
		if current == 0 {
			if err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(session), 0) + 1 FROM sessions").Scan(&current); err != nil {
				return nil, err
			}
		}
		session += current
	}
	var end int // end, exclusive
	if err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(line), 0) + 1 FROM cells WHERE session = ?", session).Scan(&end); err != nil {
		return nil, err
	}
	start, stop := q.Range(end)
	return s.last(ctx, "session = ? AND line >= ? AND line < ?", -1, session, start, stop)
}

// last returns the last n cells that meet the condition; all if n is negative.
func (s *historyStore) last(ctx context.Context, where string, n int, args ...any) ([]kernel.HistoryCell, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT session, line, source, output FROM cells WHERE "+where+
		" ORDER BY session DESC, line DESC LIMIT ?", append(args, n)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []kernel.HistoryCell
	for rows.Next() {
		var c kernel.HistoryCell
		if err := rows.Scan(&c.Session, &c.Count, &c.Source, &c.Output); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	slices.Reverse(found)
	return found, rows.Err()
}
