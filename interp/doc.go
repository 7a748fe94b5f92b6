// Package interp is a notebook session of Go. It runs cells: Go declarations and
// statements in any order, against what earlier cells left. It owns the meaning of
// cells, in the steps of cell.go; an engine behind package engine executes them.
// It knows nothing of the Jupyter protocol but the contract of package kernel, and
// nothing of tensors.
//
// What follows is what cells mean. The scripts in testdata show every sentence of it.
//
// # A cell
//
// A cell is a file and the body of a function in one. Its imports come first,
// wherever they stand; its types, constants and functions are declared for the whole
// cell; its statements, var declarations among them, run in their order. The compiler's
// own type checker checks all of it before anything runs: a cell with a mistake, and
// one that the engine refuses, leaves nothing behind, no variable, function, type or
// import. All mistakes are reported, but for variables and imports that are not used:
// a later cell may use them.
//
// Variables of a cell's outermost scope are variables of the session. A function that
// uses one that its own cell declares sees zero until the declaration has run. A panic
// ends the cell: what it had assigned stays, what it had not reached is zero.
//
// The value of the last expression is shown, unless a semicolon ends the cell, the
// value is nil, or the expression is a call of one of fmt's functions that print. Of a
// call with several results all are shown. A value of a type of the session's shows
// itself by its methods String, Error, HTML, Markdown, LaTeX, SVG, PNG or MimeBundle.
//
// Deferred calls run at the end of their cell, last in first out, also after a panic,
// which they may recover from. A return statement ends the cell. Labels, goto and
// called function literals are what they are in a function. Functions init run once,
// in their cell, after the variables that come first; a function main runs when a cell
// calls it. A cell may begin with a package clause, as a pasted program does: its
// variables are then initialized in the order of what they depend on.
//
// Packages fmt, math, strings, sort, time, math/rand and those of this library need no
// import. A name that a cell declares hides a package; an import brings it back.
//
// # Packages
//
// The packages of the standard library that cells can import are compiled into the
// program. Their generic functions and types have no compiled form: they run from the
// source that the Go installation has, and the first use of a package's says so where
// none is found. Those of package slices that only loop over numbers or strings are
// compiled for the common types. iter.Pull runs its iterator in a goroutine,
// atomic.Pointer is behind a lock, values of unique.Make live as long as the session.
// runtime.AddCleanup is refused.
//
// A cell can also import packages as source: those of the module that the working
// directory is in, with its internal ones; those of the modules that its go.mod
// requires, from the module cache, the folder vendor, or where replace and go.work say;
// and, where Go is installed, those of the standard library that are not compiled in and
// need neither unsafe nor assembly, such as go/scanner or net/mail. Versions are those
// that go.mod selects; nothing is fetched. Files are chosen as for a build without cgo
// and with the tags purego and noasm. A package is checked in the language version of
// its module, initialized once, before the cell that first imports it, and runs
// interpreted as cells do; tracebacks show its lines. What uses cgo, assembly, unsafe or
// embedded files is refused, and so is what imports it, with the reason.
//
// A package that has been imported stays as it was read, so that its types stay what
// they are: importing it again when its files have changed says so, and %reset reads
// them anew. One that was refused is read again with the next import.
//
// # Declaring again
//
// A cell may declare a name again, as the same thing or as another:
//
//   - A variable of the same type stays the same variable: functions, closures and
//     pointers of earlier cells see the new value. With another type it is a new
//     variable. Functions that use it are compiled again where they fit the new type;
//     those that do not, and all closures, keep the old one with its value.
//   - A function with the same signature takes the place of the old one for everyone,
//     closures included. With another signature its callers are compiled again; those
//     that no longer fit keep the old function, and a note says which and why.
//   - A method is the same: a new body serves the values that exist; another signature
//     makes a new version of the type.
//   - A type that is declared anew is a new type, and what uses it, methods included, is
//     compiled again. Values that exist keep the old type, which messages call "T (of
//     In[3])", with its methods. Word for word the same declaration changes nothing, so
//     a cell may be run again.
//   - A constant is replaced, and what uses it is compiled again.
//   - An import under a name that is taken replaces its meaning; earlier functions keep
//     what the name meant to them.
//
// Functions that call each other stand in one cell: the first of two cells could not be
// checked, and is refused with this hint. A cell that declares one of them again, when
// both exist, is fine.
//
// # Earlier cells
//
// In is the slice of the cells' sources: In[3] is that of the third. Out[3], or _3, is
// the value that In[3] showed, with the type that it had; _ is the last one, __ and ___
// those before. These names mean this in the statements of a cell, until something is
// declared under them; they do not in functions. A value is kept if it was the only one
// of its cell and its type has a name: the last 100 are, but one of more than 1 MB only
// until another cell shows a value. %reset out forgets them.
//
// # Goroutines
//
// A goroutine belongs to the cell that started it, and so does what it prints, also
// when it outlives the cell. A panic ends the goroutine alone and is reported under its
// cell. This holds for functions given to time.AfterFunc and context.AfterFunc as well.
// Go's rules for data that goroutines share hold between cells too: concurrent writes
// to a map end the process, as they do in a compiled program. Guard such a map with a
// sync.Mutex, or use a sync.Map.
//
// # Widgets
//
// Callbacks of widgets and comms run beside the running cell, each message's in a
// goroutine of its own that is none of the cell's; what goroutines share they have to
// guard here too. What a callback prints goes to the cell that its widget belongs to. A
// panic ends the callback and is reported there, and an interrupt stops it with the cell.
// Once there is a comm no deadlock is reported: a click could end it. %reset closes them
// all.
//
// # Debugging
//
// While a front end debugs, a cell stops at breakpoints, can be stepped through, and shows
// the variables of each call under way and those of the session. This holds for the cells
// that run meanwhile, and the functions that they declare: run a cell again to debug what
// it declared before. The cells of a session that nobody debugs are not slower for it;
// those that can stop run at a third to a half of their speed (on the engine ixgo at a
// third to a tenth), and with breakpoints somewhere each statement takes some microseconds. One goroutine stops at a time, and the
// others go on. Steps are lines: that of the head of a loop is passed once. Packages that
// are run from source do not stop, nor do generic functions on the engine ixgo. A call that
// has just returned may still be listed behind a function that is called back. Expressions
// to evaluate are variables, fields and elements. An interrupt ends a cell that has
// stopped.
//
// # Interrupts
//
// An interrupt stops the running cell and its goroutines, in loops, calls, channel
// operations, select, locks, WaitGroup.Wait, Cond.Wait, time.Sleep, functions that
// compiled code calls back, and tensor operations. Deferred functions run; recover does
// not stop it. Variables, closures and the goroutines of other cells stay as they are.
// Compiled code that waits for something else, such as a file or a connection, cannot
// be stopped: after two seconds the cell is left behind, later cells run, and when the
// compiled code returns, the cell ends with the next loop or call. Until then its
// statements may still run.
//
// # What would end a program
//
// Each of these ends the cell with an error, and the next cell has everything:
//
//   - os.Exit, log.Fatal, the methods Fatal of loggers, and flag sets that exit. Unlike
//     in a program, deferred functions run; recover does not stop it.
//   - runtime.Goexit in the cell's own goroutine.
//   - Calls that nest deeper than 10,000.
//   - Unlocking what is not locked.
//   - Memory: a slice, a string or a tensor that does not fit panics with what was asked
//     for and the limit; a cell whose heap grows beyond the limit is stopped; one that
//     mentions a type whose values do not fit, such as [1<<40]byte, does not run. The limit is nine tenths of the machine's memory, the control group's or
//     GOMEMLIMIT, whichever is least.
//   - Formatting a slice or map that contains itself, and a Chain of package nn that does.
//   - debug.SetMaxStack and debug.SetMaxThreads, which cells cannot set, and wrong
//     arguments of runtime.SetFinalizer. A panic in a finalizer is reported like one in a
//     goroutine.
//   - A deadlock: when all goroutines of cells wait for each other, and no timer or
//     goroutine of compiled code can wake one, the cell is stopped with Go's words,
//     after about a second. When in doubt, such as after signal.Notify or with a ticker,
//     nothing is reported, and an interrupt ends the wait.
//
// What still ends the process, because Go's run-time system or compiled code does it:
//
//   - Concurrent writes to a map, and writes while it is read or ranged over. Both engines
//     use maps through package reflect, which takes no lock, and Go's fatal error is not a
//     panic: it runs no deferred function, and recover does not see it.
//   - A value that contains itself in the hands of compiled code that recurses over it
//     without a limit, such as encoding/gob or the methods of a log.Logger: the stack of
//     compiled code cannot be measured on its way.
//   - One allocation in compiled code that is larger than the memory and that no function
//     above guards, such as slices.Grow(s, 1<<45).
//   - runtime.SetFinalizer with a pointer into the middle of an object.
//   - A signal that the cell sends to its own process, such as os.Process.Kill.
//
// # Engines
//
// Two interpreters can execute cells: Yaegi, unless another is asked for, and ixgo, with
// --engine ixgo of the commands kernel, run, lab and install; installed, it is a kernel
// of its own, halfnote-ixgo. What is said here of cells holds for both, but for what
// follows. "go test ./interp -run CompareEngines -compare" measures them anew; these
// numbers are from two cores.
//
//	                                          yaegi        ixgo
//	Go's own test programs that pass     757 of 809  786 of 809
//	fib(30), 1.3 million calls                2.5 s       0.4 s
//	10 million additions in a loop            0.6 s       1.0 s
//	a call of a method, in a loop            1.0 µs      0.9 µs
//	a call of compiled code, in a loop       0.4 µs      0.3 µs
//	first cell of a session                   12 ms        9 ms
//	the cell 1 + 1                          0.29 ms     0.24 ms
//	the same after 10,000 cells             0.29 ms      1.3 ms
//	an interrupt                             0.6 ms      0.4 ms
//	memory that 10,000 cells leave           5.2 MB       32 MB
//	the program, stripped, with it alone      34 MB       40 MB
//
// Take ixgo for programs that call many small functions, for values of your own types in
// the hands of compiled code (fmt, encoding/json, sort, errors.As), for generics with
// their names, and where Yaegi says that it does not support valid Go. Take Yaegi for
// everything else, and for what ixgo does otherwise:
//
//   - A type has the methods that its cell declares. A method of a later cell makes a new
//     type: values that exist keep the old one, without the method. So does a new body of
//     a method that calls recover.
//   - All types of a session have room for 8,700 methods; a cell that would need more is
//     refused.
//   - fmt takes a panic of a String method, also that of an endless recursion, as it does
//     in compiled Go. recover in a cell that os.Exit ends does not return.
//   - recover returns nil for panic(nil). nil as the value of a map takes the key away.
//     A type switch may take a type for one that it can be assigned to: put the more
//     special case first.
//   - The line of a panic of compiled code is known where the cell itself, or a function
//     that it calls, has called that; not in a method or literal of an earlier cell.
//   - It reaches deep into Go's run-time system. A fault there ends the kernel.
//
// # Limits
//
// Interpreted code runs some hundred times slower than compiled code; operations on
// tensors run at full speed. cgo, assembly, unsafe and package syscall are not
// available. A variable whose type is declared inside a function is kept only as a value
// of an interface.
package interp
