package typemaker

import (
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// interfaces holds the types that Interface and Requires have made.
var interfaces struct {
	sync.Mutex
	made []*interfaceDescription
}

// interfaceDescription is the whole description of an interface type with a name.
type interfaceDescription struct {
	interfaceType
	uncommon
}

// Interface returns a new type without a name that is like any, but has the given text, such as interface { M() }. Its values do not begin
// with a table of code, as those of a type with methods do.
func Interface(text string) (reflect.Type, error) {
	return newInterface(reflect.TypeFor[any](), "", text, nil)
}

// Requires returns a new interface type with methods, which have the Name and the Type of each of a list. Its name is path.name, for example main.I. If path
// is empty the type is unnamed, and name is its text. Package reflect cannot make interface types. It is an error if a method is not exported, or
// if types cannot be made here.
func Requires(path, name string, methods []Method) (reflect.Type, error) {
	text := name
	if path != "" {
		text = path[strings.LastIndex(path, "/")+1:] + "." + name
	}
	var list []imethod
	for _, m := range slices.SortedFunc(slices.Values(methods), func(a, b Method) int { return strings.Compare(a.Name, b.Name) }) {
		if !token.IsExported(m.Name) {
			return nil, fmt.Errorf("method %s of %s is not exported", m.Name, text)
		}
		list = append(list, imethod{nameNumber(m.Name, nameExported), addReflectOff(unsafe.Pointer(description(m.Type)))})
	}
	return newInterface(reflect.TypeFor[error](), path, text, list)
}

// newInterface returns a new type whose values lie in memory like those of another interface type.
func newInterface(like reflect.Type, path, text string, methods []imethod) (reflect.Type, error) {
	if err := unknown(); err != nil {
		return nil, err
	}
	d := &interfaceDescription{interfaceType: interfaceType{common: *description(like), methods: methods}}
	d.tflag &^= tflagUncommon | tflagExtraStar | tflagNamed
	d.ptrToThis, d.hash = 0, newHash()
	if path != "" {
		d.tflag |= tflagUncommon | tflagNamed
		d.uncommon = uncommon{pkgPath: nameNumber(path, 0), moff: uint32(unsafe.Sizeof(uncommon{}))}
	}
	d.str = addReflectOff(unsafe.Pointer(newName(text, "", 0)))
	interfaces.Lock()
	defer interfaces.Unlock()
	interfaces.made = append(interfaces.made, d)
	return described(&d.common), nil
}
