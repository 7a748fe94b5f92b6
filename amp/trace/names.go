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

// Names finds the place of operations in models. Containers such as nn.Sequential report their
// path; in a struct with its own Forward, the parameter among the operands determines the
// place. A derivative has the place of the operation that it differentiates. Names is safe for
// concurrent use.
type Names struct {
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

// NewNames returns the names of models. With several models, each name starts with the model's
// number: "1.fc1".
func NewNames(models ...any) *Names {
	n := &Names{paths: map[int]string{}}
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
			n.params = append(n.params, p)
			n.paths[p.Tensor.ID()] = p.Name
			n.newest = max(n.newest, p.Tensor.ID())
			modules[parent(p.Name)] = true
		}
		n.models = append(n.models, modules)
	}
	return n
}

// Find returns the place of an operation. Call it for every event, including casts and views,
// in order.
func (n *Names) Find(e tensor.Event) Place {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.place(&e.EventInfo)
}

// place is Find without locking.
func (n *Names) place(e *tensor.EventInfo) Place {
	p := n.find(e)
	if p.Module != "" && !e.InPlace {
		made := p
		if !e.View && e.Op.Name != "cast" { // the result is not a parameter
			made.Param = ""
		}
		n.results.put(e.Out.ID, made)
		if !e.Backward {
			for _, c := range e.Casts { // made for this operation
				if known, _ := n.results.get(c.ID); known.Module == "" {
					n.results.put(c.ID, Place{Module: p.Module})
				}
			}
		}
	}
	return p
}

// turn forgets the results of steps before the last turn.
func (n *Names) turn() { n.results.turn() }

func (n *Names) find(e *tensor.EventInfo) Place {
	if e.Backward {
		if p, ok := n.results.get(e.OfID); ok {
			if e.Of != "cast" {
				p.Param = ""
			}
			return p
		}
		return Place{Module: n.full(e.Module)}
	}
	if e.InPlace {
		return n.changed(e.In[0].ID)
	}
	for _, m := range e.In {
		path, ok := n.path(m.ID)
		if !ok {
			p, _ := n.results.get(m.ID)
			if path = p.Param; path == "" {
				continue
			}
		}
		n.last = n.owner(path, e.Module)
		return Place{Module: n.last, Param: path}
	}
	return Place{Module: n.full(e.Module)}
}

// changed returns the place of a tensor that is changed in place, which is a parameter or its
// gradient.
func (n *Names) changed(id int) Place {
	if path, ok := n.path(id); ok {
		return Place{Module: parent(path), Param: path}
	}
	p, seen := n.results.get(id)
	if seen {
		return p
	}
	for _, x := range n.params { // note all gradients, since they are usually changed together
		if g := x.Tensor.Grad(); g != nil {
			of := Place{Module: parent(x.Name), Param: x.Name}
			if n.results.put(g.ID(), of); g.ID() == id {
				p = of
			}
		}
	}
	n.results.put(id, p)
	return p
}

// knows reports whether changed finds the place of a tensor without searching the gradients.
func (n *Names) knows(id int) bool {
	_, ok := n.path(id)
	if !ok {
		_, ok = n.results.get(id)
	}
	return ok
}

// path returns the path of the parameter with this ID.
func (n *Names) path(id int) (path string, ok bool) {
	if id > n.newest { // true for most tensors
		return "", false
	}
	path, ok = n.paths[id]
	return path, ok
}

// owner returns the module that uses the parameter at path while module is running: the
// parameter's own module, or one that shares the parameter.
func (n *Names) owner(path, module string) string {
	return n.owners.get([3]string{path, module, n.last}, func() string {
		own := parent(path)
		if full := n.full(module); n.known(full) && !contains(own, module) {
			return full
		}
		return own
	})
}

// full returns the full path of a module of which only the containers on the path are known: for
// "0.1" it returns "encoder.0.body.1". Among several candidates it takes the one nearest to the
// previous module.
func (n *Names) full(path string) string {
	if path == "" {
		return ""
	}
	return n.whole.get([2]string{path, n.last}, func() string { return n.search(path) })
}

// search is full without its memo.
func (n *Names) search(path string) string {
	best, near := path, -1
	for i, modules := range n.models {
		number := ""
		if len(n.models) > 1 {
			number = strconv.Itoa(i)
		}
		whole := join(number, path)
		if modules[whole] && within(n.last, number) {
			best = whole
			break
		}
		for m := range modules {
			if !leadsTo(path, m) {
				continue
			}
			switch c := common(m, n.last); {
			case c > near, c == near && (len(m) < len(best) || len(m) == len(best) && m < best):
				best, near = m, c
			}
		}
	}
	return best
}

func (n *Names) known(path string) bool {
	return slices.ContainsFunc(n.models, func(m map[string]bool) bool { return m[path] })
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
