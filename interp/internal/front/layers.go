package front

import (
	"iter"
	"maps"
	"slices"
)

// layers is a map of pointers of which copies cost little however large it is: they share its layers. A change
// goes to a layer of the copy's own, in which nil stands for a key that has been removed.
type layers[K comparable, T any] struct {
	shared []map[K]*T // oldest first; never changed
	own    map[K]*T
}

// get returns the value of a key, or nil.
func (l *layers[K, T]) get(key K) *T {
	if v, ok := l.own[key]; ok {
		return v
	}
	for _, m := range slices.Backward(l.shared) {
		if v, ok := m[key]; ok {
			return v
		}
	}
	return nil
}

// set gives a key a value; nil removes it.
func (l *layers[K, T]) set(key K, v *T) {
	if l.own == nil {
		l.own = map[K]*T{}
	}
	l.own[key] = v
}

// share makes the layer of the receiver's own one that copies share. Layers that are not much larger are joined with it, so
// that there are few, and each value moves seldom.
func (l *layers[K, T]) share() {
	if len(l.own) == 0 {
		return
	}
	n, size := len(l.shared), len(l.own)
	for n > 0 && len(l.shared[n-1]) <= 2*size {
		n--
		size += len(l.shared[n])
	}
	top := l.own
	if n < len(l.shared) {
		top = make(map[K]*T, size)
		for _, m := range append(slices.Clone(l.shared[n:]), l.own) {
			maps.Copy(top, m)
		}
	}
	if n == 0 {
		maps.DeleteFunc(top, func(_ K, v *T) bool { return v == nil })
	}
	l.shared, l.own = append(slices.Clip(l.shared[:n]), top), nil
}

// clone returns a copy that changes without the receiver.
func (l *layers[K, T]) clone() layers[K, T] {
	l.share()
	return layers[K, T]{shared: l.shared}
}

// keys returns all keys, some of them repeatedly, and some that have been removed. It takes less time than all.
func (l *layers[K, T]) keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, m := range append(slices.Clip(l.shared), l.own) {
			for key := range m {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// all returns the keys and their values. The map may be changed meanwhile.
func (l *layers[K, T]) all() iter.Seq2[K, *T] {
	return func(yield func(K, *T) bool) {
		seen := map[K]bool{}
		for i, m := range slices.Backward(append(slices.Clip(l.shared), l.own)) {
			for key, v := range m {
				if seen[key] {
					continue
				}
				if i > 0 { // there may be an older value
					seen[key] = true
				}
				if v != nil && !yield(key, v) {
					return
				}
			}
		}
	}
}
