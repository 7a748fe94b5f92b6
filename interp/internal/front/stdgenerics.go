package front

import (
	"go/token"
	"go/types"

	"halfnote/interp/internal/library"
)

// Std is the source of generics of the standard library that the session has read.
type Std struct {
	files    *token.FileSet
	packages map[string]map[string]*library.Decl
	// Instances holds the compiled instances of generic functions that units call.
	Instances map[string]types.Type
}

func NewStd(files *token.FileSet) *Std {
	return &Std{files, map[string]map[string]*library.Decl{}, map[string]types.Type{}}
}

// decl returns the declaration of a flat name, or nil if there is none.
func (s *Std) decl(name string) (*library.Decl, error) {
	for _, path := range library.StdPackages(name) {
		m, err := s.read(path)
		if err != nil {
			return nil, err
		}
		if d := m[name]; d != nil {
			return d, nil
		}
	}
	return nil, nil
}

func (s *Std) read(path string) (map[string]*library.Decl, error) {
	if m, ok := s.packages[path]; ok {
		return m, nil
	}
	m, err := library.Std(s.files, path)
	if err == nil {
		s.packages[path] = m
	}
	return m, err
}

// Name returns the engine's name of a generic object of the standard library, or "" for
// other objects and for those without source.
func (s *Std) Name(o types.Object) string {
	if o == nil || o.Pkg() == nil || !library.Generic(o) {
		return ""
	}
	name := library.StdName(o.Pkg().Path(), o.Name())
	if m, err := s.read(o.Pkg().Path()); err != nil || m[name] == nil {
		return ""
	}
	return name
}
