package data

import "fmt"

// Calls, and the attributes of their results.

// mostArguments is the largest number of arguments of a call.
const mostArguments = 64

// call pushes the result of f.
func (m *pickle) call(f any, args []any) error {
	if len(args) > mostArguments {
		return m.bad(fmt.Sprintf("a call with %d arguments", len(args)), fmt.Sprintf("at most %d", mostArguments))
	}
	name, ok := f.(global)
	if of, isForeign := f.(*foreign); isForeign {
		name, ok = of.name, true
	}
	if !ok {
		return m.bad("a call of "+kindOf(f), "a class or a function")
	}
	run, known := callables[name]
	if _, named := f.(global); !known || !named {
		return m.push(m.foreign(name))
	}
	v, err := run(m, args)
	if err != nil {
		for _, a := range args {
			if f, isForeign := a.(*foreign); isForeign {
				return m.push(f)
			}
		}
		return err
	}
	return m.push(v)
}

// foreign returns the result of a call that is not made.
func (m *pickle) foreign(name global) *foreign {
	return m.unknown(&foreign{name, "a call of " + string(name), m.start})
}

// unbuilt returns an object that is not built, such as a tensor of complex numbers.
func (m *pickle) unbuilt(what string) *foreign { return m.unknown(&foreign{"", what, m.start}) }

func (m *pickle) unknown(f *foreign) *foreign {
	if m.strange == nil {
		m.strange = f
	}
	return f
}

// reduce calls the function below the arguments on top.
func (m *pickle) reduce() error {
	args, err := m.popTuple()
	if err != nil {
		return err
	}
	f, err := m.pop()
	if err != nil {
		return err
	}
	return m.call(f, args)
}

func (m *pickle) popTuple() ([]any, error) {
	v, err := m.pop()
	if err != nil {
		return nil, err
	}
	t, ok := v.(*sequence)
	if !ok || t.kind != "tuple" {
		return nil, m.bad("arguments that are "+kindOf(v), "a tuple")
	}
	return t.items, nil
}

// callWithNames is reduce with keyword arguments.
func callWithNames(m *pickle) error {
	names, err := m.pop()
	if err != nil {
		return err
	}
	if d, ok := names.(*mapping); ok && len(d.keys) == 0 {
		return m.reduce()
	}
	all, err := m.popN(2)
	if err != nil {
		return err
	}
	name, ok := all[0].(global)
	if !ok {
		return m.bad("a call of "+kindOf(all[0]), "a class")
	}
	return m.push(m.foreign(name))
}

// callMarked calls the first value after a mark with the values after it.
func callMarked(m *pickle) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return m.bad("a call without a class", "a class and its arguments")
	}
	return m.call(items[0], items[1:])
}

// callNamed calls the class of the given name with the values after a mark.
func callNamed(m *pickle) error {
	name, err := m.globalLines()
	if err != nil {
		return err
	}
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.call(name, items)
}

func (m *pickle) globalLines() (global, error) {
	module, err := m.line()
	if err != nil {
		return "", err
	}
	name, err := m.line()
	if err != nil {
		return "", err
	}
	return m.globalOf(module, name)
}

// globalOf joins a module and a name. It rejects names longer than Python's.
func (m *pickle) globalOf(module, name string) (global, error) {
	if len(module)+len(name) > 1000 {
		return "", m.bad("the name "+quoted(module+"."+name), "a shorter one")
	}
	return global(module + "." + name), nil
}

func pushGlobal(m *pickle) error {
	name, err := m.globalLines()
	if err != nil {
		return err
	}
	return m.push(name)
}

func pushStackGlobal(m *pickle) error {
	names, err := m.popN(2)
	if err != nil {
		return err
	}
	module, ok := names[0].(string)
	name, also := names[1].(string)
	if !ok || !also {
		return m.bad("a name of "+kindOf(names[0])+" and "+kindOf(names[1]), "two str")
	}
	g, err := m.globalOf(module, name)
	if err != nil {
		return err
	}
	return m.push(g)
}

// build sets the attributes of the object on top. Attributes of containers and tensors, such
// as the _metadata of a state dict, are dropped.
func build(m *pickle) error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *mapping, *view, *foreign:
		return nil
	case *numpyType:
		return v.build(m, state)
	case *numpyArray:
		return v.build(m, state)
	}
	return m.bad("attributes of "+kindOf(v), "an object that has them")
}
