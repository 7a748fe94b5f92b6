package plumbing

// Casting is the group of functions that put casters on goroutines. Info describes an operation.
type Casting[Info, T any] struct {
	// With runs body with c casting the operands of every operation of this goroutine. A nil c
	// casts nothing.
	With func(c Caster[Info, T], body func())

	// Enter is With for the code that follows it. c casts the operands of this goroutine's
	// operations until exit is called, or until the enclosing body run by With, tensor.NoGrad or a
	// similar function returns. exit returns an error if it is called on another goroutine, a
	// second time, or before the exit of a later Enter. A goroutine that ends without calling exit
	// must call CloseScopes.
	Enter func(c Caster[Info, T]) (exit func() error)

	// CloseScopes ends the scopes that the calling goroutine has entered and not left. It returns
	// the casters of its calls of Enter, innermost first. Programs that run user code in
	// goroutines call it at the end of each.
	CloseScopes func() (left []Caster[Info, T])

	// Active returns the caster in force on this goroutine, or nil.
	Active func() Caster[Info, T]

	// Enclosing returns the caster in force. During Backward, which has none, it returns the one
	// in force where Backward was called. It may return nil.
	Enclosing func() Caster[Info, T]

	// ActiveModule returns the path of the running module, as in events, if there are observers
	// or a caster that reads it.
	ActiveModule func() string
}

// Caster chooses the dtypes that operations run in.
type Caster[Info, T any] interface {
	// Cast returns the operands for op: in[i], or a cast of it made by in[i].To, for each i. It
	// must not modify in. It is not called for casts and views. It runs on the operation's
	// goroutine and may panic with an error if op must not run.
	Cast(op Info, in []T) []T
}

// Renewer is a Caster with a cache, for example of cast weights. Checkpoint runs its function
// under the Caster that Renew returns: the same rules with an empty cache.
type Renewer[Info, T any] interface {
	Caster[Info, T]
	Renew() Caster[Info, T]
}

// ResultCaster is a Caster that also processes results, for example by casting them or by hooking
// their gradients.
type ResultCaster[Info, T any] interface {
	Caster[Info, T]
	// Result returns the replacement for op's result y, usually y itself. in holds the operands
	// before Cast.
	Result(op Info, in []T, y T) T
}

// ModuleReader is a Caster that may read the active module.
type ModuleReader[Info, T any] interface {
	Caster[Info, T]
	// ReadsModule reports whether Cast calls ActiveModule.
	ReadsModule() bool
}

// Decomposer is a Caster for which some operations are decomposed into torch's component
// operations. Each component is cast on its own, so that dtypes and roundings match torch's.
type Decomposer[Info, T any] interface {
	Caster[Info, T]
	// Decomposes reports whether op runs as its component operations.
	Decomposes(op Info) bool
}
