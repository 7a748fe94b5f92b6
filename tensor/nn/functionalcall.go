package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"halfnote/tensor"
)

// FunctionalCall calls body while model's tensors with the names in state are replaced by
// those of state, and then restores the originals. The replacements may have another dtype
// and a history, so that gradients flow through them. It panics if a name is unknown, a
// shape differs, or a tensor is not reached through pointers and so cannot be replaced. No
// other goroutine may use the model meanwhile. It is torch.func.functional_call.
func FunctionalCall(model any, state map[string]*tensor.Tensor, body func()) {
	fail := func(format string, args ...any) {
		panic(&tensor.Error{Op: "functional_call", Why: fmt.Sprintf(format, args...)})
	}
	need("functional_call", "body", body != nil, "a function to run")
	with := map[*tensor.Tensor]*tensor.Tensor{}
	for _, n := range namedTensors(model) {
		x, ok := state[n.Name]
		if !ok {
			continue
		}
		if x == nil || !slices.Equal(x.Shape(), n.Tensor.Shape()) {
			fail("the replacement of %s does not have its shape %s", n.Name, tuple(n.Tensor.Shape()))
		}
		with[n.Tensor] = x
	}
	if len(with) != len(state) {
		known := StateDict(model)
		for _, name := range slices.Sorted(maps.Keys(state)) {
			if known[name] == nil {
				fail("the model has no tensor %s", name)
			}
		}
	}
	type place struct {
		at  **tensor.Tensor
		own *tensor.Tensor
	}
	var places []place
	done := map[*tensor.Tensor]bool{}
	w := walker{seen: map[any]bool{}}
	w.field = func(v reflect.Value) {
		own := (*tensor.Tensor)(v.UnsafePointer())
		if with[own] != nil && v.CanAddr() {
			places = append(places, place{(**tensor.Tensor)(v.Addr().UnsafePointer()), own})
			done[own] = true
		}
	}
	w.walk(reflect.ValueOf(model), "")
	for _, n := range namedTensors(model) {
		if with[n.Tensor] != nil && !done[n.Tensor] {
			fail("%s cannot be replaced: it is in a struct held by value or in a map; hold a pointer to the struct", n.Name)
		}
	}
	defer func() {
		for _, p := range places {
			*p.at = p.own
		}
	}()
	for _, p := range places {
		*p.at = with[p.own]
	}
	body()
}
