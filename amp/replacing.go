package amp

import "sync/atomic"

// replacing changes the policies of regions; nil if they are unchanged.
var replacing atomic.Pointer[func(Policy) Policy]

// Replacing runs body. Until body returns, every region on any goroutine is opened under
// change(p) instead of its policy p. Calls nest, with inner changes applied first. It runs an
// unmodified training step under another policy.
func Replacing(change func(p Policy) Policy, body func()) {
	need("Replacing", "change", change != nil, "a func(amp.Policy) amp.Policy")
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

// replaced returns the policy to use for a region of p.
func replaced(p Policy) Policy {
	if change := replacing.Load(); change != nil {
		return (*change)(p)
	}
	return p
}
