package amp

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"halfnote/tensor"
)

// registered holds the categories of users' operations by name. Registering replaces the map, so
// that autocast reads it without a lock.
var (
	registering sync.Mutex
	registered  atomic.Pointer[map[string]Category]
)

// RegisterAutocast sets the category of a custom operation, one that [tensor.Apply] runs, in all
// policies; [Policy.With] still moves it in one of them. op is the Name of its Info. Without
// registration the operation is Unlisted and runs in its operands' dtypes. Registering again
// replaces the category. It panics with an *[Error] if op is empty or one of package tensor's, or
// if the category is invalid. It is torch.library.register_autocast.
func RegisterAutocast(op string, c Category) {
	if op == "" {
		panic(&Error{Code: "unknown_op", Call: "RegisterAutocast", Why: "the name is empty", Cure: "pass the Name in the operation's Info"})
	}
	for _, own := range tensor.Ops() {
		if own.Name == op {
			panic(&Error{
				Code: "bad_category", Call: "RegisterAutocast", Why: fmt.Sprintf("%s is an operation of package tensor", op),
				Cure: fmt.Sprintf("move it in one policy, for example amp.Float16.With(%q, amp.FP32)", op),
			})
		}
	}
	mustBeCategory("RegisterAutocast", op, c)
	registering.Lock()
	defer registering.Unlock()
	all := map[string]Category{op: c}
	if old := registered.Load(); old != nil {
		all = maps.Clone(*old)
		all[op] = c
	}
	registered.Store(&all)
}

// registeredAs returns the category of a custom operation, Unlisted if it is not registered.
func registeredAs(op string) Category {
	if all := registered.Load(); all != nil {
		return (*all)[op]
	}
	return Unlisted
}

// mustBeCategory panics unless operations can be moved to c.
func mustBeCategory(call, op string, c Category) {
	if c > Banned {
		panic(&Error{
			Code: "bad_category", Call: call, Why: fmt.Sprintf("%s cannot be moved to category %d", op, c),
			Cure: "want amp.Unlisted, LowerPrecision, FP32, Promote or Banned",
		})
	}
}
