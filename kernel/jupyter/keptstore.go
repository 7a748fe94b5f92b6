package jupyter

import (
	"context"
	"database/sql"
	"slices"

	"halfnote/kernel"
)

// keptSchema is the table of outputs. notebook is the notebook of the session, cell the id of the
// notebook's cell, took a time in nanoseconds, content a list of outputs as notebooks hold them.
const keptSchema = `
CREATE TABLE IF NOT EXISTS outputs (
	id INTEGER PRIMARY KEY, session INTEGER, line INTEGER, notebook TEXT, cell TEXT,
	took INTEGER, lines INTEGER, displays INTEGER, failed TEXT, content TEXT,
	UNIQUE (session, line)
);`

const pruneKept = 50 // writes of outputs between two prunes

// keep writes the outputs of a cell.
func (s *historyStore) keep(tx *sql.Tx, session int64, notebook string, e kernel.Entry) error {
	if _, err := tx.Exec(`INSERT OR REPLACE INTO outputs (session, line, notebook, cell, took, lines, displays, failed, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, e.Count, notebook, e.CellID, e.Kept.Took, e.Kept.Lines, e.Kept.Displays, e.Kept.Failed, e.Text); err != nil {
		return err
	}
	if s.keeping++; s.keeping < pruneKept && session == s.session {
		return nil
	}
	s.keeping = 0
	_, err := tx.Exec(`DELETE FROM outputs WHERE id IN (SELECT id FROM
		(SELECT id, row_number() OVER w AS n, sum(octet_length(content)) OVER w AS bytes FROM outputs WINDOW w AS (ORDER BY id DESC))
		WHERE n > ? OR bytes > ?)`, kernel.MaxKeptCells, kernel.MaxKeptBytes)
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

// The methods of [kernel.KeptOutputs].

func (h *history) Cells(back int) ([]kernel.KeptCell, error) {
	var list []kernel.KeptCell
	err := h.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		rows, err := s.db.QueryContext(ctx, `SELECT o.line, coalesce(c.source, ''), o.took, o.lines, o.displays, o.failed
			FROM outputs o LEFT JOIN cells c ON c.session = o.session AND c.line = o.line WHERE o.session = ? AND octet_length(o.content) > 2 ORDER BY o.line`, session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c kernel.KeptCell
			if err := rows.Scan(&c.Count, &c.Source, &c.Took, &c.Lines, &c.Displays, &c.Failed); err != nil {
				return err
			}
			list = append(list, c)
		}
		return rows.Err()
	})
	if died := h.died(back); err == nil && died > 0 {
		i := slices.IndexFunc(list, func(c kernel.KeptCell) bool { return c.Count == died })
		if i < 0 {
			i, list = len(list), append(list, kernel.KeptCell{Count: died})
		}
		list[i].Failed = "the kernel ended"
	}
	return list, err
}

func (h *history) Sources(back int) ([]kernel.KeptCell, error) {
	if back > 0 && h.notebook == "" {
		return nil, nil
	}
	var list []kernel.KeptCell
	err := h.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		rows, err := s.db.QueryContext(ctx, `SELECT c.line, c.source, coalesce(o.failed, '')
			FROM cells c LEFT JOIN outputs o ON o.session = c.session AND o.line = c.line WHERE c.session = ? ORDER BY c.line`, session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c kernel.KeptCell
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
func (h *history) died(back int) int {
	if back != 1 || h.last.text == "" {
		return 0
	}
	return h.last.cell
}

func (h *history) Outputs(back, count int) (list []kernel.KeptOutput, err error) {
	if count > 0 && count == h.died(back) {
		defer func() { list = append(list, kernel.KeptOutput{Stream: "stderr", Text: h.last.text + "\n"}) }()
	}
	var content string
	err = h.find(back, func(ctx context.Context, s *historyStore, session int64) error {
		err := s.db.QueryRowContext(ctx, "SELECT content FROM outputs WHERE session = ? AND line = ?", session, count).Scan(&content)
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	})
	if err != nil || content == "" {
		return nil, err
	}
	return kernel.ReadOutputs(content)
}

// find calls f with the session once all changes are in the store. It does not call f if there is no
// such session.
func (h *history) find(back int, f func(ctx context.Context, s *historyStore, session int64) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), historyFor)
	defer cancel()
	return h.use(func(s *historyStore) error {
		session, ok, err := s.keptSession(ctx, h.notebook, back)
		if err != nil || !ok {
			return err
		}
		return f(ctx, s, session)
	})
}
