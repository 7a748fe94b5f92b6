package data

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Operations that push numbers and text, and operations on the memo.

func (m *pickle) pushUnsigned(n int) error {
	x, err := m.unsigned(n)
	if err != nil {
		return err
	}
	return m.push(int(x))
}

func pushInt32(m *pickle) error {
	x, err := m.unsigned(4)
	if err != nil {
		return err
	}
	return m.push(int(int32(x)))
}

func pushIntLine(m *pickle) error {
	text, err := m.line()
	switch {
	case err != nil:
		return err
	case text == "00" || text == "01":
		return m.push(text == "01")
	}
	return m.pushDigits(text)
}

func pushLongLine(m *pickle) error {
	text, err := m.line()
	if err != nil {
		return err
	}
	return m.pushDigits(strings.TrimSuffix(text, "L"))
}

// mostDigits is the largest number of digits of an int. It exceeds that of torch's magic
// number, and keeps conversion cheap.
const mostDigits = 100

func (m *pickle) pushDigits(text string) error {
	x, ok := new(big.Int), false
	if len(text) <= mostDigits {
		x, ok = x.SetString(text, 10)
	}
	if !ok {
		return m.bad(quoted(text), fmt.Sprintf("an int of at most %d digits", mostDigits))
	}
	return m.push(narrowed(x))
}

func (m *pickle) pushLong(n int) error {
	size, err := m.unsigned(n)
	if err == nil && size > mostDigits {
		err = m.bad(fmt.Sprintf("an int of %d bytes", size), fmt.Sprintf("at most %d", mostDigits))
	}
	if err != nil {
		return err
	}
	p, err := m.bytes(size)
	if err != nil {
		return err
	}
	return m.push(long(p))
}

func pushFloatLine(m *pickle) error {
	text, err := m.line()
	if err != nil {
		return err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return m.bad(quoted(text), "a float")
	}
	return m.push(x)
}

func pushFloat(m *pickle) error {
	p, err := m.bytes(8)
	if err != nil {
		return err
	}
	return m.push(math.Float64frombits(binary.BigEndian.Uint64(p)))
}

// pushText pushes UTF-8 preceded by its length.
func (m *pickle) pushText(n int) error {
	p, err := m.counted(n)
	if err == nil && !utf8.Valid(p) {
		err = m.bad(quoted(p), "text in UTF-8")
	}
	if err != nil {
		return err
	}
	return m.push(string(p))
}

// pushString pushes a Python 2 str, which is text or bytes.
func (m *pickle) pushString(n int) error {
	p, err := m.counted(n)
	if err != nil {
		return err
	}
	if utf8.Valid(p) {
		return m.push(string(p))
	}
	return m.push(p)
}

func (m *pickle) pushBytes(n int) error {
	p, err := m.counted(n)
	if err != nil {
		return err
	}
	return m.push(p)
}

// pushUnicodeLine pushes a line in Python's raw-unicode-escape encoding.
func pushUnicodeLine(m *pickle) error {
	text, err := m.line()
	if err != nil {
		return err
	}
	var b strings.Builder
	for len(text) > 0 {
		size := 0
		switch {
		case strings.HasPrefix(text, `\u`):
			size = 6
		case strings.HasPrefix(text, `\U`):
			size = 10
		default:
			b.WriteRune(rune(text[0])) // the rest is Latin-1
			text = text[1:]
			continue
		}
		x, err := uint64(0), error(strconv.ErrSyntax)
		if size <= len(text) {
			x, err = strconv.ParseUint(text[2:size], 16, 32)
		}
		if err != nil || x > utf8.MaxRune {
			return m.bad(quoted(text), `\u and four hexadecimal digits, or \U and eight`)
		}
		b.WriteRune(rune(x))
		text = text[size:]
	}
	return m.push(b.String())
}

// pushStringLine pushes a Python 2 str between quotes.
func pushStringLine(m *pickle) error {
	text, err := m.line()
	if err != nil {
		return err
	}
	n := len(text)
	if n < 2 || text[0] != text[n-1] || text[0] != '\'' && text[0] != '"' || strings.ContainsRune(text, '\\') || !utf8.ValidString(text) {
		return m.bad(quoted(text), "text between quotes, without escapes")
	}
	return m.push(text[1 : n-1])
}

func pushDict(m *pickle) error {
	if err := m.spend(containerWork); err != nil {
		return err
	}
	return m.push(&mapping{})
}

func pushDictOfItems(m *pickle) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	if err := pushDict(m); err != nil {
		return err
	}
	return m.setItems(items, nil)
}

// popOrMark removes the top of the stack, which may be a mark.
func popOrMark(m *pickle) error {
	if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
		m.marks = m.marks[:n-1]
		return nil
	}
	_, err := m.pop()
	return err
}

func (m *pickle) index() (int, error) {
	text, err := m.line()
	if err != nil {
		return 0, err
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 {
		return 0, m.bad(quoted(text), "an index of 0 or more")
	}
	return i, nil
}

func (m *pickle) recallLine() error {
	i, err := m.index()
	if err != nil {
		return err
	}
	return m.recallFrom(i)
}

func (m *pickle) recall(n int) error {
	i, err := m.unsigned(n)
	if err != nil {
		return err
	}
	return m.recallFrom(int(i))
}

func (m *pickle) recallFrom(i int) error {
	v, ok := m.memo[i]
	if !ok {
		return m.bad(fmt.Sprintf("a reference to value %d", i), "a value that the program has stored")
	}
	return m.push(v)
}

func (m *pickle) rememberLine() error {
	i, err := m.index()
	if err != nil {
		return err
	}
	return m.rememberAs(i)
}

func (m *pickle) remember(n int) error {
	i, err := m.unsigned(n)
	if err != nil {
		return err
	}
	return m.rememberAs(int(i))
}

func (m *pickle) rememberAs(i int) error {
	v, err := m.top()
	if err == nil {
		err = m.spend(containerWork)
	}
	m.memo[i] = v
	return err
}

func checkProtocol(m *pickle) error {
	p, err := m.byte()
	if err == nil && p > 5 {
		err = m.bad(fmt.Sprintf("protocol %d", p), "0 to 5")
	}
	return err
}

// refusePersistent is for files of protocol 0, which hold a storage as the text of a tuple. PyTorch writes but cannot read them.
func refusePersistent(m *pickle) error {
	return m.bad("a storage as text, as in pickle's protocol 0, which PyTorch cannot read either", "protocol 2, torch.save's default: save the tensors again without pickle_protocol=0")
}

func pushPersistent(m *pickle) error {
	id, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.persistent(m, id)
	if err != nil {
		return err
	}
	return m.push(v)
}
