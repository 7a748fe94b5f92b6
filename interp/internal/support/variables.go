package support

import (
	"go/token"
	"strings"

	"halfnote/interp/internal/front"
	"halfnote/interp/internal/symbols"
)

// Variable provides units with a pointer to a variable of a compiled package: Yaegi
// would treat the variable's value at compile time as a constant.
func (s *Symbols) Variable(path, name string) (string, bool) {
	symbol := "Var_" + strings.TrimPrefix(front.Alias(path), "p__") + "_" + name
	if s.bound[symbol] {
		return symbol, true
	}
	v, ok := symbols.Table(path)[name]
	if o := s.Streams.Variable(path, name); o.IsValid() {
		v, ok = o, true
	}
	if !ok || !v.CanAddr() || v.Type().PkgPath() != "" && !token.IsExported(v.Type().Name()) { // no engine can name the type of binary.BigEndian
		return "", false
	}
	s.Add(map[string]any{symbol: v.Addr().Interface()})
	s.bound[symbol] = true
	return symbol, true
}
