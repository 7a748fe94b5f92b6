package library

import "go/types"

// Generic reports whether an object is a generic function or type that exists only as
// source. A generic function type, such as iter.Seq, is not: it has no methods, and
// code can use the underlying function type.
func Generic(o types.Object) bool {
	switch o := o.(type) {
	case *types.Func:
		return o.Signature().Recv() == nil && o.Signature().TypeParams().Len() > 0
	case *types.TypeName:
		switch t := o.Type().(type) {
		case *types.Named:
			_, fn := t.Underlying().(*types.Signature)
			return t.TypeParams().Len() > 0 && !fn
		case *types.Alias:
			return t.TypeParams().Len() > 0
		}
	}
	return false
}
