package kernel

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"halfnote/display"
)

// keptSchema is the table of outputs. notebook is the notebook of the session, cell the id of the
// notebook's cell, took a time in nanoseconds, content a list of outputs as notebooks hold them.
const keptSchema = `
CREATE TABLE IF NOT EXISTS outputs (
	id INTEGER PRIMARY KEY, session INTEGER, line INTEGER, notebook TEXT, cell TEXT,
	took INTEGER, lines INTEGER, displays INTEGER, failed TEXT, content TEXT,
	UNIQUE (session, line)
);`

// keptRow is what the table of outputs holds apart from the content.
type keptRow struct {
	notebook, cell  string
	took            time.Duration
	lines, displays int
	failed          string
}

// keep writes the outputs of a cell.
func (s *historyStore) keep(tx *sql.Tx, session int64, e entry) error {
	if _, err := tx.Exec(`INSERT OR REPLACE INTO outputs (session, line, notebook, cell, took, lines, displays, failed, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, e.line, e.kept.notebook, e.kept.cell, e.kept.took, e.kept.lines, e.kept.displays, e.kept.failed, e.text); err != nil {
		return err
	}
	if s.keeping++; s.keeping < pruneKept && session == s.session {
		return nil
	}
	s.keeping = 0
	_, err := tx.Exec(`DELETE FROM outputs WHERE id IN (SELECT id FROM
		(SELECT id, row_number() OVER w AS n, sum(octet_length(content)) OVER w AS bytes FROM outputs WINDOW w AS (ORDER BY id DESC))
		WHERE n > ? OR bytes > ?)`, maxKeptCells, maxKeptBytes)
	return err
}

// keptSession returns the number of the session that is back sessions with output before this one,
// of the same notebook. ok reports whether it exists.
func (s *historyStore) keptSession(ctx context.Context, notebook string, back int) (session int64, ok bool, err error) {
	if back == 0 {
		return s.session, s.session != 0, nil
	}
	row := s.db.QueryRowContext(ctx, `SELECT DISTINCT session FROM outputs WHERE notebook = ? AND (session < ? OR ? = 0) ORDER BY session DESC LIMIT 1 OFFSET ?`,
		notebook, s.session, s.session, back-1)
	if err := row.Scan(&session); err == sql.ErrNoRows {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	return session, true, nil
}

// keptOutputs is the kernel's KeptOutputs.
type keptOutputs struct {
	k *kernel
}

func (o keptOutputs) Cells(back int) ([]KeptCell, error) {
	var list []KeptCell
	err := o.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		rows, err := s.db.QueryContext(ctx, `SELECT o.line, coalesce(c.source, ''), o.took, o.lines, o.displays, o.failed
			FROM outputs o LEFT JOIN cells c ON c.session = o.session AND c.line = o.line WHERE o.session = ? AND octet_length(o.content) > 2 ORDER BY o.line`, session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c KeptCell
			if err := rows.Scan(&c.Count, &c.Source, &c.Took, &c.Lines, &c.Displays, &c.Failed); err != nil {
				return err
			}
			list = append(list, c)
		}
		return rows.Err()
	})
	if died := o.died(back); err == nil && died > 0 {
		i := slices.IndexFunc(list, func(c KeptCell) bool { return c.Count == died })
		if i < 0 {
			i, list = len(list), append(list, KeptCell{Count: died})
		}
		list[i].Failed = "the kernel ended"
	}
	return list, err
}

func (o keptOutputs) Sources(back int) ([]KeptCell, error) {
	if back > 0 && o.k.Notebook == "" {
		return nil, nil
	}
	var list []KeptCell
	err := o.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		rows, err := s.db.QueryContext(ctx, `SELECT c.line, c.source, coalesce(o.failed, '')
			FROM cells c LEFT JOIN outputs o ON o.session = c.session AND o.line = c.line WHERE c.session = ? ORDER BY c.line`, session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c KeptCell
			if err := rows.Scan(&c.Count, &c.Source, &c.Failed); err != nil {
				return err
			}
			list = append(list, c)
		}
		return rows.Err()
	})
	return list, err
}

// died returns the number of the cell in which the kernel ended that is back kernels before this one, or 0.
func (o keptOutputs) died(back int) int {
	if back != 1 || o.k.last.text == "" {
		return 0
	}
	return o.k.last.cell
}

func (o keptOutputs) Outputs(back, count int) (list []KeptOutput, err error) {
	if count > 0 && count == o.died(back) {
		defer func() { list = append(list, KeptOutput{Stream: "stderr", Text: o.k.last.text + "\n"}) }()
	}
	var content string
	err = o.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		err := s.db.QueryRowContext(ctx, "SELECT content FROM outputs WHERE session = ? AND line = ?", session, count).Scan(&content)
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	})
	if err != nil || content == "" {
		return nil, err
	}
	return readKept(content)
}

// find calls f with the session once all changes are in the store. It does not call f if there is no
// such session.
func (o keptOutputs) find(back int, f func(ctx context.Context, s *historyStore, session int64) error) error {
	ctx, cancel := context.WithTimeout(o.k.life, historyFor)
	defer cancel()
	o.k.kept.flush()
	return o.k.history.use(func(s *historyStore) error {
		session, ok, err := s.keptSession(ctx, o.k.Notebook, back)
		if err != nil || !ok {
			return err
		}
		return f(ctx, s, session)
	})
}

// readKept reads outputs as notebooks hold them.
func readKept(content string) ([]KeptOutput, error) {
	var list []struct {
		Type           string `json:"output_type"`
		Name, Text     string
		EName, EValue  string
		Traceback      []string
		Data, Metadata map[string]any
		Transient      struct {
			ID string `json:"display_id"`
		}
	}
	if err := json.Unmarshal([]byte(content), &list); err != nil {
		return nil, fmt.Errorf("kernel: kept outputs: %w", err)
	}
	var out []KeptOutput
	for _, o := range list {
		switch o.Type {
		case "stream":
			out = append(out, KeptOutput{Stream: o.Name, Text: o.Text})
		case "error":
			out = append(out, KeptOutput{Err: &Error{Name: o.EName, Value: o.EValue, Traceback: o.Traceback}})
		default:
			out = append(out, KeptOutput{Bundle: display.Bundle{Data: o.Data, Metadata: o.Metadata, ID: o.Transient.ID}})
		}
	}
	return out, nil
}
