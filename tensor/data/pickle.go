package data

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"slices"

	"halfnote/tensor/driver"
)

// pickle is the stack machine of Python's pickle module, protocols 0 to 5. It builds
// numbers, text, containers and the results of a fixed set of callables. It never runs
// Python code: a call of anything else gives a [foreign] object. It is class _Unpickler of
// Lib/pickle.py.
//
// A program cannot exhaust time or memory: operations and copied items are limited in number,
// and the bytes kept never exceed the size of the file.
type pickle struct {
	*stream
	start      int64 // offset of the current operation
	work       *int  // number of operations left
	stack      []any
	marks      []int // heights of the stack
	memo       map[int]any
	persistent func(m *pickle, id any) (any, error)
	strange    *foreign // first foreign object
}

const (
	mostPickle     = 64 << 20 // bytes of a program
	mostOperations = 1 << 23
	tensorWork     = 16 // number of operations that a tensor counts as, for its memory
	containerWork  = 4
)

// stream is a sequence of programs.
type stream struct {
	source
	r        *bufio.Reader
	name     string // name of the part of the file
	at, left int64  // offset of the next byte, and number of bytes left
}

func newStream(src source, name string, r io.Reader, size int64) *stream {
	return &stream{src, bufio.NewReaderSize(r, 1<<16), name, 0, min(size, mostPickle)}
}

// Types that the machine builds besides nil, bool, int, *big.Int, float64, string and []byte.
type (
	// sequence is a list, a tuple, a set or a torch.Size.
	sequence struct {
		kind  string
		items []any
	}
	// mapping is a dict.
	mapping struct{ keys, values []any }
	// global is a name, such as torch.FloatStorage.
	global string
	// foreign is an object that is not built.
	foreign struct {
		name global // of its class or function, if it is known
		what string // for errors
		at   int64
	}
)

// unpickle runs one program and returns its result.
func (s *stream) unpickle(work *int, persistent func(m *pickle, id any) (any, error)) (any, *foreign, error) {
	m := &pickle{stream: s, work: work, memo: map[int]any{}, persistent: persistent}
	for {
		if m.start = m.at; m.start%4096 == 0 {
			driver.Poll()
		}
		op, err := m.byte()
		if err != nil {
			return nil, nil, err
		}
		run := opcodes[op]
		if run == nil {
			return nil, nil, m.bad(fmt.Sprintf("the operation 0x%02x", op), "one of pickle's protocols 0 to 5")
		}
		if err := m.spend(1); err != nil {
			return nil, nil, err
		}
		if err := run(m); err != nil {
			return nil, nil, err
		}
		if op == '.' {
			v, err := m.pop()
			return v, m.strange, err
		}
	}
}

func (m *pickle) bad(found, want string) error {
	return m.source.bad(fmt.Sprintf("%s, byte %d", m.name, m.start), found, want)
}

// spend counts operations.
func (m *pickle) spend(n int) error {
	if *m.work -= n; *m.work < 0 {
		return m.bad(fmt.Sprintf("more than %d operations", mostOperations), "a program that builds tensors and containers, such as torch.save writes")
	}
	return nil
}

func (m *pickle) push(v any) error {
	m.stack = append(m.stack, v)
	return nil
}

// base returns the stack height that the innermost mark protects.
func (m *pickle) base() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *pickle) top() (any, error) {
	if len(m.stack) <= m.base() {
		return nil, m.bad("an operation on an empty stack", "an operand")
	}
	return m.stack[len(m.stack)-1], nil
}

func (m *pickle) pop() (any, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

// popMark removes and returns the values pushed since the innermost mark.
func (m *pickle) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, m.bad("an operation without a mark", "a mark before it")
	}
	base := m.base()
	items := slices.Clone(m.stack[base:])
	clear(m.stack[base:])
	m.stack, m.marks = m.stack[:base], m.marks[:len(m.marks)-1]
	return items, nil
}

// popN removes and returns the n values on top, the deepest first.
func (m *pickle) popN(n int) ([]any, error) {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		v, err := m.pop()
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}

func (m *pickle) pushSequence(kind string, items []any, err error) error {
	if err == nil {
		err = m.spend(containerWork)
	}
	if err != nil {
		return err
	}
	return m.push(&sequence{kind, items})
}

// appendItems adds items to the list or set on top.
func (m *pickle) appendItems(items []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *foreign:
	case *sequence:
		if v.kind == "tuple" {
			return m.bad("items added to a tuple", "a list or a set")
		}
		v.items = append(v.items, items...)
	default:
		return m.bad("items added to "+kindOf(v), "a list or a set")
	}
	return nil
}

// setItems sets items of the dict on top, from alternating keys and values.
func (m *pickle) setItems(items []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *foreign:
	case *mapping:
		if len(items)%2 != 0 {
			return m.bad("a key without a value", "alternating keys and values")
		}
		for i := 0; i < len(items); i += 2 {
			v.keys, v.values = append(v.keys, items[i]), append(v.values, items[i+1])
		}
	default:
		return m.bad("keys set in "+kindOf(v), "a dict")
	}
	return nil
}

// kindOf returns Python's name of a value's type, for messages.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case int, *big.Int:
		return "an int"
	case float64:
		return "a float"
	case string:
		return "a str"
	case []byte:
		return "bytes"
	case *sequence:
		return "a " + v.kind
	case *mapping:
		return "a dict"
	case global:
		return string(v)
	case *foreign:
		return v.what
	case *view:
		return "a tensor"
	}
	return fmt.Sprintf("a %T", v)
}
