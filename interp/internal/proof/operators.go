package proof

import "strings"

// operators lists forms that compute with a place $L of a number and a second operand $Y, by the types that they need:
// i for integers, n for all numbers, o for what has an order, s for strings.
var operators = []struct{ name, text, needs string }{
	{"+=", "$L += $Y", "ns"}, {"-=", "$L -= $Y", "n"}, {"*=", "$L *= $Y", "n"}, {"/=", "$L /= $Y", "n"}, {"%=", "$L %= $Y", "i"},
	{"&=", "$L &= $Y", "i"}, {"|=", "$L |= $Y", "i"}, {"^=", "$L ^= $Y", "i"}, {"&^=", "$L &^= $Y", "i"}, {"<<=", "$L <<= 2", "i"}, {">>=", "$L >>= 1", "i"},
	{"<<= variable", "n := uint8(3)\n$L <<= n", "i"}, {">>= large", "n := 70\n$L >>= n", "i"}, {"++", "$L++", "n"}, {"--", "$L--", "n"},
	{"+", "$L = $L + $Y", "ns"}, {"-", "$L = $Y - $L", "n"}, {"*", "$L = $L * $Y * $Y", "n"}, {"/", "$L = $L / $Y", "n"}, {"%", "$L = $L % $Y", "i"},
	{"&", "$L = $L & $Y", "i"}, {"|", "$L = $L | $Y", "i"}, {"^", "$L = $L ^ $Y", "i"}, {"&^", "$L = $L &^ $Y", "i"}, {"<<", "$L = $L << 3", "i"}, {">>", "$L = $Y >> 1", "i"},
	{"<< variable", "n := 62\n$L = $L << n", "i"}, {"1 <<", "n := 3\n$L = 1 << n", "i"}, {"unary -", "$L = -$L", "n"}, {"unary ^", "$L = ^$L", "i"}, {"unary +", "$L = +$L", "n"},
	{"==", "show(fmt.Sprint($L == $Y, $Y != $L))", "nso"}, {"<", "show(fmt.Sprint($L < $Y, $Y <= $L))", "os"}, {">", "show(fmt.Sprint($L > $Y, $Y >= $L))", "os"},
	{"min", "$L = min($L, $Y)", "os"}, {"max", "$L = max($Y, $L, $L)", "os"}, {"constant", "$L = 7 - $L", "n"}, {"constant right", "$L = $L*2 + 1", "n"},
	{"call", "$L += id($Y)", "ns"}, {"closure", "$L += func() $T { return $Y }()", "ns"}, {"element", "$L += []$T{$Y, $Y}[1]", "ns"}, {"overflow", "for range 9 {\n$L += $L\n$L *= 3\n}", "n"},
	{"nested", "$L = ($L+$Y)*($L-$Y) + $L", "n"}, {"division by zero", "var z $T\n$L /= z", "i"}, {"remainder by zero", "var z $T\n$L = $L % z", "i"}, {"twice", "$L, $Y = $Y+$L, $L", "ns"},
	{"condition", "if $L+$Y > $Y && $L < $Y || $L == $Y {\nshow(\"in\")\n}", "o"}, {"tag", "switch $L + $Y {\ncase $Y, $Y + $L:\nshow(\"in\")\n}", "ns"}, {"shift of a sum", "n := 2\n$L = ($L + $Y) << n >> 1", "i"},
}

// numbers maps the types that operators work on to what they allow.
var numbers = []struct{ name, flags string }{
	{"int", "ino"}, {"int8", "ino"}, {"int16", "ino"}, {"int32", "ino"}, {"int64", "ino"}, {"uint", "ino"}, {"uint8", "ino"}, {"uint16", "ino"},
	{"uint32", "ino"}, {"uint64", "ino"}, {"uintptr", "ino"}, {"float32", "no"}, {"float64", "no"}, {"complex64", "n"}, {"complex128", "n"}, {"string", "s"},
	{"count", "ino"}, {"word", "s"}, {"ratio", "no"}, {"addr", "ino"}, {"level", "ino"}, {"duration", "ino"},
}

// operatorCells crosses numbers, operators and storages.
func operatorCells() (cells []Cell) {
	for i, n := range numbers {
		k := byName(n.name)[0]
		for j, o := range operators {
			if !strings.ContainsAny(n.flags, o.needs) {
				continue
			}
			for l, s := range storages {
				if (i+j*5+l)%7 != 0 && o.name != "++" || s.name == "goroutine" && strings.HasSuffix(o.name, "zero") { // a panic in a goroutine ends the program
					continue
				}
				fill := func(text string) string {
					text = strings.ReplaceAll(text, "$W", "var by $T = $B\n"+o.text+"\n_ = by")
					return k.fill(strings.NewReplacer("$L", s.place, "$Y", "by").Replace(text))
				}
				cells = append(cells, Cell{[]string{k.name, o.name, s.name}, []string{k.name}, fill(s.before), fill(s.decls), fill(s.body)})
			}
		}
	}
	return cells
}
