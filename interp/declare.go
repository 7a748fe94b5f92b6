package interp

import (
	"context"
	"maps"
	"slices"

	"halfnote/interp/internal/front"
	"halfnote/interp/internal/library"
)

// declarePackages passes the cell's imports to the engine, with their dependencies. It returns those
// that are to be initialized before the cell runs.
func (s *Session) declarePackages(ctx context.Context, c *front.Bound) (starts []*front.SourceUnit, err error) {
	var list []*library.Package
	paths := slices.Concat(c.Imported, slices.Sorted(maps.Values(c.Env.Imports)), c.Env.Dots)
	for _, path := range paths {
		if l := s.front.Packages.Loader.Loaded(path); l != nil {
			list = front.Closure(l, list)
		}
	}
	for _, l := range list {
		u := s.front.Packages.Units[l.Types]
		if u == nil {
			continue // only inspected, for completion
		}
		if !u.Declared {
			if err := s.declarePackage(ctx, c.N, u); err != nil {
				delete(s.front.Packages.Units, l.Types)
				if ctx.Err() != nil {
					return nil, errNotRun
				}
				return nil, c.Refused(u, err)
			}
			u.Declared = true
		}
		if u.Program != nil {
			starts = append(starts, u)
		}
	}
	return starts, nil
}

// declarePackage passes a package to the engine.
func (s *Session) declarePackage(ctx context.Context, n int, u *front.SourceUnit) error {
	c, err := u.Lower(s.front.Input(n, "", &front.Files{}, false), s.env, s.target())
	if err != nil {
		return err
	}
	for name, text := range u.Text {
		s.front.Packages.Files[name] = &front.SourceFile{Name: u.Name(name), Text: text}
	}
	base := s.places.Note(c.Checked, c.Marks)
	s.front.Take(c.Slots)
	if u.Program, err = s.engine.Declare(ctx, c.Unit); err != nil {
		s.places.Forget(base)
		return err
	}
	s.places.AddLabels(c.Labels)
	s.front.Adopt(&c.Lowered)
	return nil
}
