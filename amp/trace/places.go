package trace

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Place is the place of an operation in a model.
type Place struct {
	Module string // path of the module, "encoder.2" or "fc1"; "" if unknown
	Param  string // parameter among the operands, or whose gradient is computed: "fc1.weight"
}

// Places finds the place of operations in models. Containers such as nn.Sequential report their
// path; in a struct with its own Forward, the parameter among the operands determines the
// place. A derivative has the place of the operation that it differentiates. Places is safe for
// concurrent use.
type Places struct {
	params []nn.Named
	models []map[string]bool // paths of the modules of each model

	mu      sync.Mutex
	paths   map[int]string // paths of parameters, by ID
	newest  int            // largest ID of a parameter
	results recent[Place]
	whole   memo[[2]string, string] // results of full
	owners  memo[[3]string, string] // results of owner
	last    string                  // module that was found last
}

// NewPlaces returns the Places of models. With several models, each path starts with the model's
// number: "1.fc1".
func NewPlaces(models ...any) *Places {
	s := &Places{paths: map[int]string{}}
	for i, m := range models {
		number := ""
		if len(models) > 1 {
			number = strconv.Itoa(i)
		}
		modules := map[string]bool{}
		for _, p := range nn.NamedModules(m) {
			modules[join(number, p.Name)] = true
		}
		for _, p := range nn.NamedParameters(m) {
			p.Name = join(number, p.Name)
			s.params = append(s.params, p)
			s.paths[p.Tensor.ID()] = p.Name
			s.newest = max(s.newest, p.Tensor.ID())
			modules[parent(p.Name)] = true
		}
		s.models = append(s.models, modules)
	}
	return s
}

// Find returns the place of an operation. Call it for every event, including casts and views,
// in order.
func (s *Places) Find(e tensor.Event) Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place(&e.EventInfo)
}

// place is Find without locking.
func (s *Places) place(e *tensor.EventInfo) Place {
	p := s.find(e)
	if p.Module != "" && !e.InPlace {
		made := p
		if !e.View && e.Op.Name != "cast" { // the result is not a parameter
			made.Param = ""
		}
		s.results.put(e.Out.ID, made)
		if !e.Backward {
			for _, c := range e.Casts { // made for this operation
				if known, _ := s.results.get(c.ID); known.Module == "" {
					s.results.put(c.ID, Place{Module: p.Module})
				}
			}
		}
	}
	return p
}

// turn forgets the results of steps before the last turn.
func (s *Places) turn() { s.results.turn() }

func (s *Places) find(e *tensor.EventInfo) Place {
	if e.Backward {
		if p, ok := s.results.get(e.OfID); ok {
			if e.Of != "cast" {
				p.Param = ""
			}
			return p
		}
		return Place{Module: s.full(e.Module)}
	}
	if e.InPlace {
		return s.changed(e.In[0].ID)
	}
	for _, m := range e.In {
		path, ok := s.path(m.ID)
		if !ok {
			p, _ := s.results.get(m.ID)
			if path = p.Param; path == "" {
				continue
			}
		}
		s.last = s.owner(path, e.Module)
		return Place{Module: s.last, Param: path}
	}
	return Place{Module: s.full(e.Module)}
}

// changed returns the place of a tensor that is changed in place, which is a parameter or its
// gradient.
func (s *Places) changed(id int) Place {
	if path, ok := s.path(id); ok {
		return Place{Module: parent(path), Param: path}
	}
	p, seen := s.results.get(id)
	if seen {
		return p
	}
	for _, x := range s.params { // note all gradients, since they are usually changed together
		if g := x.Tensor.Grad(); g != nil {
			of := Place{Module: parent(x.Name), Param: x.Name}
			if s.results.put(g.ID(), of); g.ID() == id {
				p = of
			}
		}
	}
	s.results.put(id, p)
	return p
}

// knows reports whether changed finds the place of a tensor without searching the gradients.
func (s *Places) knows(id int) bool {
	_, ok := s.path(id)
	if !ok {
		_, ok = s.results.get(id)
	}
	return ok
}

// path returns the path of the parameter with this ID.
func (s *Places) path(id int) (path string, ok bool) {
	if id > s.newest { // true for most tensors
		return "", false
	}
	path, ok = s.paths[id]
	return path, ok
}

// owner returns the module that uses the parameter at path while module is running: the
// parameter's own module, or one that shares the parameter.
func (s *Places) owner(path, module string) string {
	return s.owners.get([3]string{path, module, s.last}, func() string {
		own := parent(path)
		if full := s.full(module); s.known(full) && !contains(own, module) {
			return full
		}
		return own
	})
}

// full returns the full path of a module of which only the containers on the path are known: for
// "0.1" it returns "encoder.0.body.1". Among several candidates it takes the one nearest to the
// previous module.
func (s *Places) full(path string) string {
	if path == "" {
		return ""
	}
	return s.whole.get([2]string{path, s.last}, func() string { return s.search(path) })
}

// search is full without its memo.
func (s *Places) search(path string) string {
	best, near := path, -1
	for i, modules := range s.models {
		number := ""
		if len(s.models) > 1 {
			number = strconv.Itoa(i)
		}
		whole := join(number, path)
		if modules[whole] && within(s.last, number) {
			best = whole
			break
		}
		for m := range modules {
			if !leadsTo(path, m) {
				continue
			}
			switch c := common(m, s.last); {
			case c > near, c == near && (len(m) < len(best) || len(m) == len(best) && m < best):
				best, near = m, c
			}
		}
	}
	return best
}

func (s *Places) known(path string) bool {
	return slices.ContainsFunc(s.models, func(m map[string]bool) bool { return m[path] })
}

// leadsTo reports whether module contains the names of path in this order, and ends with the last.
func leadsTo(path, module string) bool {
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	return last(path) == last(module) && contains(module, path)
}

// contains reports whether module contains the names of path in this order.
func contains(module, path string) bool {
	for path != "" && module != "" {
		var name string
		name, module, _ = strings.Cut(module, ".")
		if first, rest, _ := strings.Cut(path, "."); name == first {
			path = rest
		}
	}
	return path == ""
}

// common returns the number of leading names that two paths share.
func common(a, b string) int {
	i, x, y := 0, strings.Split(a, "."), strings.Split(b, ".")
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	return i
}

// within reports whether a module is the one at path or inside it.
func within(module, path string) bool {
	return path == "" || module == path || strings.HasPrefix(module, path+".")
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '.'), 0)]
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}
