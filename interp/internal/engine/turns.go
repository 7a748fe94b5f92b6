package engine

import "runtime"

// Turns is the name of the rewrite by which loops count their turns. An engine asks for it where nothing else runs while
// a loop does.
const Turns = "turns"

// OneThread reports whether goroutines run on one thread and are not preempted, as in Go's port to WebAssembly. There an interrupt is a
// message that JavaScript receives while all goroutines wait.
const OneThread = runtime.GOARCH == "wasm"
