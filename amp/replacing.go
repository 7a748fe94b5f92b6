package amp

import "sync/atomic"

// replacing changes the policies of regions, nil for none.
var replacing atomic.Pointer[func(Policy) Policy]

// Replacing runs body with every region of any goroutine, while it runs, opened under
// change(p) in place of its own policy p, and inside of what changes it already: a way
// to run a step of training, as it is, under another policy.
func Replacing(change func(p Policy) Policy, body func()) {
	need("Replacing", "change", change != nil, "a function of a policy")
	need("Replacing", "body", body != nil, "a function to run")
	outer := replacing.Load()
	inner := change
	if outer != nil {
		inner = func(p Policy) Policy { return (*outer)(change(p)) }
	}
	replacing.Store(&inner)
	defer replacing.Store(outer)
	body()
}

// replaced returns the policy that a region of p has.
func replaced(p Policy) Policy {
	if change := replacing.Load(); change != nil {
		return (*change)(p)
	}
	return p
}
