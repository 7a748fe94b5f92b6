package data

// opcodes are the operations of pickle's protocols 0 to 5, by their byte. Extension codes and
// out-of-band buffers are not supported, since torch.save never writes them. It is the list in
// Lib/pickletools.py.
var opcodes = [256]func(m *pickle) error{
	// Numbers and constants.
	'N':  func(m *pickle) error { return m.push(nil) },
	0x88: func(m *pickle) error { return m.push(true) },
	0x89: func(m *pickle) error { return m.push(false) },
	'K':  func(m *pickle) error { return m.pushUnsigned(1) },
	'M':  func(m *pickle) error { return m.pushUnsigned(2) },
	'J':  pushInt32,
	'I':  pushIntLine,
	'L':  pushLongLine,
	0x8a: func(m *pickle) error { return m.pushLong(1) },
	0x8b: func(m *pickle) error { return m.pushLong(4) },
	'F':  pushFloatLine,
	'G':  pushFloat,

	// Text and bytes.
	'V':  pushUnicodeLine,
	'X':  func(m *pickle) error { return m.pushText(4) },
	0x8c: func(m *pickle) error { return m.pushText(1) },
	0x8d: func(m *pickle) error { return m.pushText(8) },
	'S':  pushStringLine,
	'T':  func(m *pickle) error { return m.pushString(4) },
	'U':  func(m *pickle) error { return m.pushString(1) },
	'B':  func(m *pickle) error { return m.pushBytes(4) },
	'C':  func(m *pickle) error { return m.pushBytes(1) },
	0x8e: func(m *pickle) error { return m.pushBytes(8) },
	0x96: func(m *pickle) error { return m.pushBytes(8) },

	// Containers.
	']': func(m *pickle) error { return m.pushSequence("list", nil, nil) },
	'l': func(m *pickle) error { items, err := m.popMark(); return m.pushSequence("list", items, err) },
	'a': func(m *pickle) error { items, err := m.popN(1); return m.appendItems(items, err) },
	'e': func(m *pickle) error { items, err := m.popMark(); return m.appendItems(items, err) },
	')': func(m *pickle) error { return m.pushSequence("tuple", nil, nil) },
	't': func(m *pickle) error { items, err := m.popMark(); return m.pushSequence("tuple", items, err) },
	0x85: func(m *pickle) error {
		items, err := m.popN(1)
		return m.pushSequence("tuple", items, err)
	},
	0x86: func(m *pickle) error { items, err := m.popN(2); return m.pushSequence("tuple", items, err) },
	0x87: func(m *pickle) error { items, err := m.popN(3); return m.pushSequence("tuple", items, err) },
	0x8f: func(m *pickle) error { return m.pushSequence("set", nil, nil) },
	0x90: func(m *pickle) error { items, err := m.popMark(); return m.appendItems(items, err) },
	0x91: func(m *pickle) error { items, err := m.popMark(); return m.pushSequence("set", items, err) },
	'}':  pushDict,
	'd':  pushDictOfItems,
	's':  func(m *pickle) error { items, err := m.popN(2); return m.setItems(items, err) },
	'u':  func(m *pickle) error { items, err := m.popMark(); return m.setItems(items, err) },

	// The stack and the memo.
	'(': func(m *pickle) error { m.marks = append(m.marks, len(m.stack)); return nil },
	'0': popOrMark,
	'1': func(m *pickle) error { _, err := m.popMark(); return err },
	'2': func(m *pickle) error {
		v, err := m.top()
		if err != nil {
			return err
		}
		return m.push(v)
	},
	'g':  func(m *pickle) error { return m.recallLine() },
	'h':  func(m *pickle) error { return m.recall(1) },
	'j':  func(m *pickle) error { return m.recall(4) },
	'p':  func(m *pickle) error { return m.rememberLine() },
	'q':  func(m *pickle) error { return m.remember(1) },
	'r':  func(m *pickle) error { return m.remember(4) },
	0x94: func(m *pickle) error { return m.rememberAs(len(m.memo)) },

	// Objects.
	'c':  pushGlobal,
	0x93: pushStackGlobal,
	'R':  func(m *pickle) error { return m.reduce() },
	0x81: func(m *pickle) error { return m.reduce() },
	0x92: callWithNames,
	'o':  callMarked,
	'i':  callNamed,
	'b':  build,
	'Q':  pushPersistent,
	'P':  refusePersistent,

	// The program itself.
	0x80: checkProtocol,
	0x95: func(m *pickle) error { _, err := m.unsigned(8); return err },
	'.':  func(m *pickle) error { return nil },
}
