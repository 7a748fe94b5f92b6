package exercise

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"halfnote/display"
	"halfnote/internal/save"
)

// record is what is known of one exercise.
type record struct {
	Solved bool   `json:"solved,omitempty"`
	Tries  int    `json:"tries,omitempty"` // different wrong answers in a row
	Last   string `json:"last,omitempty"`  // the last wrong answer
}

// pages are the learner's guesses and records by id.
type pages struct {
	Guesses   map[string]string `json:"guesses"`
	Exercises map[string]record `json:"exercises"`
}

// store keeps the pages in memory and, if it can, in a file. An unreadable file is left as it is.
type store struct {
	mu    sync.Mutex
	pages pages
	read  bool
	path  string // "" keeps nothing on disk
}

var book store

// progressFile returns the path of the user's file, or "" for none.
func progressFile() string {
	if path, ok := os.LookupEnv("HALFNOTE_PROGRESS"); ok {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "halfnote", "progress.json")
}

// update reads the file, which another kernel may have changed, calls f, and writes the file if f returns true.
func (s *store) update(f func(p *pages) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read {
		s.path, s.read = progressFile(), true
	}
	if s.path != "" {
		var p pages
		text, err := os.ReadFile(s.path)
		switch {
		case err == nil:
			err = json.Unmarshal(text, &p)
			if err == nil {
				s.pages = p
			}
		case os.IsNotExist(err):
			err = nil
		}
		if err != nil {
			s.path = ""
		}
	}
	if s.pages.Guesses == nil {
		s.pages.Guesses = map[string]string{}
	}
	if s.pages.Exercises == nil {
		s.pages.Exercises = map[string]record{}
	}
	if !f(&s.pages) || s.path == "" {
		return
	}
	if err := s.write(); err != nil {
		s.path = "" // memory keeps the pages
	}
}

// write replaces the file in one step.
func (s *store) write() error {
	text, err := json.MarshalIndent(s.pages, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	return save.Text(s.path, append(text, '\n'))
}

func (s *store) guess(id, text string) {
	s.update(func(p *pages) bool {
		p.Guesses[id] = text
		return true
	})
}

func (s *store) guessed(id string) (text string) {
	s.update(func(p *pages) bool {
		text = p.Guesses[id]
		return false
	})
	return text
}

func (s *store) solve(id string) {
	s.update(func(p *pages) bool {
		r := p.Exercises[id]
		r.Solved, r.Tries, r.Last = true, 0, ""
		p.Exercises[id] = r
		return true
	})
}

// try records a wrong answer and returns the number of different ones in a row. The same answer again does not
// count.
func (s *store) try(id string, answer any) (tries int) {
	text := show(answer)
	s.update(func(p *pages) bool {
		r := p.Exercises[id]
		if text != r.Last || r.Tries == 0 {
			r.Tries, r.Last = r.Tries+1, text
		}
		tries = r.Tries
		p.Exercises[id] = r
		return true
	})
	return tries
}

// LessonProgress is the learner's progress in one lesson.
type LessonProgress struct {
	Lesson, Title string
	Guesses       []string // in the order of the lesson's predictions
	Solved, Open  []string // ids of exercises
}

// Page is the learner's progress in all lessons.
type Page []LessonProgress

// Progress returns which exercises are solved, and the guesses, for each lesson of the course.
func Progress() Page {
	var page Page
	book.update(func(p *pages) bool {
		for _, l := range lessons {
			row := LessonProgress{Lesson: l.number, Title: l.title}
			for _, q := range l.predictions {
				if guess := p.Guesses[q.id]; guess != "" {
					row.Guesses = append(row.Guesses, guess)
				}
			}
			for _, e := range l.exercises {
				if p.Exercises[e.id].Solved {
					row.Solved = append(row.Solved, e.id)
				} else {
					row.Open = append(row.Open, e.id)
				}
			}
			page = append(page, row)
		}
		return false
	})
	return page
}

// Reset forgets all guesses and solved exercises, or those of the given lessons, such as "05".
func Reset(numbers ...string) {
	for _, n := range numbers {
		lessonOf("Reset", n)
	}
	book.update(func(p *pages) bool {
		for _, l := range lessons {
			for _, q := range l.predictions {
				if forgets(numbers, q.id) {
					delete(p.Guesses, q.id)
				}
			}
			for _, e := range l.exercises {
				if forgets(numbers, e.id) {
					delete(p.Exercises, e.id)
				}
			}
		}
		return true
	})
}

func forgets(numbers []string, id string) bool {
	for _, n := range numbers {
		if strings.HasPrefix(id, n) {
			return true
		}
	}
	return len(numbers) == 0
}

// Bundle returns the page as a table.
func (p Page) Bundle() display.Bundle {
	var rows [][]any
	solved, all := 0, 0
	for _, l := range p {
		n := len(l.Solved) + len(l.Open)
		solved, all = solved+len(l.Solved), all+n
		rows = append(rows, []any{l.Lesson + " " + tr(l.Title), strings.Join(l.Guesses, "; "), fmt.Sprintf(tr("%d of %d"), len(l.Solved), n), strings.Join(l.Open, ", ")})
	}
	rows = append(rows, []any{tr("all"), "", fmt.Sprintf(tr("%d of %d"), solved, all), ""})
	return display.Table([]string{tr("lesson"), tr("guess"), tr("solved"), tr("open")}, rows)
}

// String returns the page as a table of text.
func (p Page) String() string { return p.Bundle().String() }
