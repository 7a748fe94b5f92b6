package amp

import "sync/atomic"

// overriding changes the policies of regions; nil if they are unchanged.
var overriding atomic.Pointer[func(Policy) Policy]

// OverridePolicy runs body. Until body returns, every region on any goroutine is opened under
// change(p) instead of its policy p. Calls nest, with inner changes applied first. It runs an
// unmodified training step under another policy.
func OverridePolicy(change func(p Policy) Policy, body func()) {
	need("OverridePolicy", "change", change != nil, "a func(amp.Policy) amp.Policy")
	need("OverridePolicy", "body", body != nil, "a function to run")
	outer := overriding.Load()
	inner := change
	if outer != nil {
		inner = func(p Policy) Policy { return (*outer)(change(p)) }
	}
	overriding.Store(&inner)
	defer overriding.Store(outer)
	body()
}

// replaced returns the policy to use for a region of p.
func replaced(p Policy) Policy {
	if change := overriding.Load(); change != nil {
		return (*change)(p)
	}
	return p
}
