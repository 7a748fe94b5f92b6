package plumbing

// Caster chooses the dtypes that operations run in. Info describes an operation.
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
