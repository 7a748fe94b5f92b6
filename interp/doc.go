// Package interp implements notebook sessions of Go. A session runs cells: Go declarations
// and statements in any order, which can use those of earlier cells. The package defines
// what a session keeps from cell to cell; package front gives cells their meaning, and an
// engine behind package engine executes them. Of the Jupyter protocol it uses only the
// interfaces of package kernel/eval. It does not depend on tensors.
//
// This page describes cells. The scripts in testdata demonstrate each of its sentences.
//
// # A cell
//
// A cell is both a Go file and the body of a function. Its imports come first, wherever
// they are written; its types, constants and functions are declared for the whole cell;
// its statements, including var declarations, run in order. The compiler's own type
// checker checks the whole cell before anything runs: a cell with a mistake, or one that
// the engine rejects, has no effect; not even its imports remain. All mistakes are
// reported, except unused variables and imports, which a later cell may use.
//
// Variables of a cell's outermost scope are variables of the session. A function that
// uses a variable of the same cell sees zero until the declaration has run. A panic
// ends the cell: variables already assigned keep their values, the others are zero.
//
// The value of the last expression is displayed, unless the cell ends with a semicolon,
// the value is nil, or the expression calls one of fmt's print functions. If a call has
// several results, all are shown. A value of a type declared in a cell is displayed by
// its method String, Error, HTML, Markdown, LaTeX, SVG, PNG or MimeBundle, if it has
// one.
//
// Deferred calls run at the end of their cell, last in first out, even after a panic,
// and may recover from it. A return statement ends the cell. Labels, goto and
// immediately called function literals work as in a function. init functions run once,
// in their cell, after the variables at its start; a main function runs when a cell
// calls it. A cell may begin with a package clause, as a pasted program does: its
// variables are then initialized in dependency order.
//
// Packages fmt, math, strings, sort, time, math/rand and those of this library need no
// import. A name that a cell declares hides a package; an import brings it back.
//
// # Packages
//
// The packages of the standard library that cells can import are compiled into the
// program. Their generic functions and types have no compiled form: they are interpreted
// from their source, which is in the program too. Functions of package slices that only
// loop over numbers or strings are compiled for the common types. iter.Pull runs its
// iterator in a goroutine, atomic.Pointer takes a lock, values of unique.Make live as long
// as the session. runtime.AddCleanup is refused.
//
// A cell can also import packages from source: packages of the module that contains the
// working directory, including internal ones; packages of the modules that its go.mod
// requires, from the module cache, the vendor folder, or the targets of replace and
// go.work. The standard library is compiled in, all but the packages for which exports.Refused
// has a reason; where a newer Go is installed, packages that it adds are read from source.
// go.mod selects the versions; nothing is downloaded. Files are chosen as for a build
// without cgo and with the tags purego, noasm, safe, nounsafe and appengine. A package is checked in the language
// version of its module, initialized once, before the cell that first imports it, and
// interpreted as cells are; tracebacks show its lines. A package that uses cgo, assembly,
// unsafe or embedded files is refused, and so is any package that imports it; the error
// gives the reason.
//
// A package of the user's own module, or of a folder in replace or go.work, is read again
// when its files have changed, before the next cell runs, and so are the packages that
// import it; a note says so. Its variables are initialized again. Functions, types and
// constants of cells that mention the package are compiled again, under the rules below.
// Existing values keep the types of the old package. If the new files cannot be read, the
// session keeps the old version. A package that was refused is read again at the next import.
//
// # Declaring again
//
// A cell may declare a name again, as the same thing or as another:
//
//   - A variable of the same type stays the same variable: functions, closures and
//     pointers of earlier cells see the new value. With another type it is a new
//     variable. Functions that use it are compiled again if they fit the new type;
//     the others, and all closures, keep the old variable with its value.
//   - A function with the same signature replaces the old one everywhere, closures
//     included. With another signature its callers are compiled again; those that no
//     longer fit keep the old function, and a note gives their names and the reason.
//   - A method with the same signature replaces the old one for existing values too;
//     another signature makes a new version of the type.
//   - A type that is declared again is a new type, and everything that uses it, methods
//     included, is compiled again. Existing values keep the old type, which messages
//     call "T (of In[3])", and its methods. Repeating a declaration word for word changes
//     nothing, so a cell may be run again.
//   - A constant is replaced, and everything that uses it is compiled again.
//   - An import under a name that is taken replaces its meaning; earlier functions keep
//     the old one.
//
// Functions that call each other belong in one cell: in two, the first could not be
// checked; it is refused with this hint. When both exist, a cell may declare either of
// them again.
//
// # Earlier cells
//
// In is the slice of the cells' sources: In[3] is the source of the third. Out[3], or _3,
// is the value that In[3] showed, with its type; _ is the last value, __ and ___ the two
// before. These names have this meaning in the statements of a cell, until a cell
// declares them, and never in functions. A value is kept if its cell showed only one
// and its type has a name. The last 100 are kept, but a value of more than 1 MB only
// until another cell shows a value. %reset out forgets them.
//
// # Goroutines
//
// A goroutine belongs to the cell that started it, and so does its output, even when it
// outlives the cell. A panic ends only the goroutine and is reported under its cell. The
// same holds for functions passed to time.AfterFunc and context.AfterFunc.
// Go's rules for shared data hold between cells too. Guard a map that several goroutines
// use with a sync.Mutex, or use a sync.Map: otherwise they may end their cell.
//
// # Widgets
//
// Callbacks of widgets and comms run concurrently with the running cell, one goroutine
// for each message; data shared with cells needs a lock. The output of a callback goes
// to the cell that its widget belongs to. A panic ends the callback and is reported
// there, and an interrupt stops it with the cell. Once a comm is open, deadlocks are not
// reported: a click could end them. %reset closes all comms.
//
// # Debugging
//
// While a front end debugs, a cell stops at breakpoints, can be stepped through, and shows
// the variables of every active call and of the session. This holds for the cells that
// run in that time. Functions and methods of earlier cells with a breakpoint are compiled
// again when the next cell runs; values that already hold such a function keep the one
// without. With the filter "Panics", a panic that would end a cell stops it first, with
// its calls and their variables. Without a debugger, cells run at full speed. On Yaegi,
// cells that can stop run at a third to a half of it. Each statement
// takes some microseconds while any breakpoint is set. One goroutine stops at a time, and
// the others continue. Steps are lines: the head of a loop is passed once. Packages run
// from source do not stop, nor do generic functions in compiled cells. A call that has just
// returned may still be listed below a function that is called back. The debugger
// evaluates variables, fields and elements. An interrupt ends a stopped cell.
//
// # Interrupts
//
// An interrupt stops the running cell and its goroutines, in loops, calls, channel
// operations, select, locks, WaitGroup.Wait, Cond.Wait, time.Sleep, callbacks from
// compiled code, and tensor operations. Deferred functions run; recover does not stop an
// interrupt. Variables, closures and the goroutines of other cells stay as they are.
// Compiled code that waits for something else, such as a file or a connection, cannot
// be stopped: after two seconds the cell is left behind and later cells run. When the
// compiled code returns, the cell ends at its next loop or call. Until then its
// statements may still run.
//
// # What would end a program
//
// Each of these ends the cell with an error, and the session keeps its state:
//
//   - os.Exit, log.Fatal, the Fatal methods of loggers, and flag sets that exit. Unlike
//     in a program, deferred functions run; recover does not stop it.
//   - runtime.Goexit in the cell's own goroutine.
//   - Calls that nest deeper than 10,000.
//   - Unlocking an unlocked mutex.
//   - Goroutines that use one map at the same time, at least one of them to write it. The
//     goroutine that finds the other at the map ends its cell with Go's message. Unlike
//     in a program, deferred functions run; recover does not stop it.
//   - Memory: a slice, string or tensor that does not fit panics with the requested size
//     and the limit; a cell whose heap exceeds the limit is stopped; a cell that mentions
//     a type whose values do not fit, such as [1<<40]byte, does not run. The limit is nine
//     tenths of the smallest of the machine's memory, the control group's limit and
//     GOMEMLIMIT.
//   - Formatting a slice or map that contains itself, or an nn.Sequential that does.
//   - debug.SetMaxStack and debug.SetMaxThreads, which cells cannot set, and invalid
//     arguments of runtime.SetFinalizer. A panic in a finalizer is reported like one in a
//     goroutine.
//   - A deadlock: when all goroutines of cells wait for each other, and no timer or
//     goroutine of compiled code can wake one, the cell is stopped after about a second,
//     with Go's message. When in doubt, such as after signal.Notify or with a ticker,
//     nothing is reported, and an interrupt ends the wait.
//
// These still end the process, because Go's run-time system or compiled code does so:
//
//   - A goroutine of a cell that writes to a map while compiled code uses it, for example
//     json.Marshal, package reflect, or fmt for a map inside another value. A map that is
//     itself an operand of package fmt or the result of a cell is safe.
//   - A value that contains itself, passed to compiled code that recurses over it
//     without a limit, such as encoding/gob or the methods of a log.Logger: the stack of
//     compiled code cannot be measured while it runs.
//   - One allocation in compiled code that exceeds the memory, in a function that is not
//     guarded, such as slices.Grow(s, 1<<45).
//   - runtime.SetFinalizer with a pointer into the middle of an object.
//   - A signal that the cell sends to its own process, such as os.Process.Kill.
//
// # Engines
//
// Two engines can execute cells, chosen by the flag --engine of the commands kernel, run, lab and
// install. Yaegi, the default, interprets them. Native compiles them with Go's own compiler
// and links them into the running program; where it cannot, Yaegi runs the cells, and the
// first one says why. docs/cells.md compares the two, and docs/compiled-cells.md describes
// native. This page holds for both, except for these differences of native:
//
//   - Generic functions of the standard library are compiled. runtime.AddCleanup works, but not
//     for variables of the session, which are not in the heap. Packages of an older language
//     version have the loop variables of the newest.
//   - As in compiled Go, fmt recovers from a panic of a String method, including endless
//     recursion. recover does not return in a cell that os.Exit ends.
//   - Tracebacks underline the operand that failed and give the line of every call. They do not
//     show the values of local integers, which %debug shows.
//   - A package that remembers a type, such as encoding/json, may not see methods that a
//     later cell declares. Types that functions declare keep the methods that they have.
//   - The code of cells stays in memory, some kilobytes for each.
//   - It relies on internals of Go's run-time system. A fault there ends the process. Yaegi does
//     so only for types that refer to themselves, and while compiled code inspects values of
//     your types.
//
// Where compiled code inspects values of your types (encoding/..., text/template,
// html/template, log/slog, reflect, testing/quick), Yaegi shows it types with Go's names, fields
// and methods. These gaps remain:
//
//   - Such code gets copies of the structs, slices and maps around interfaces and functions,
//     so that changes which a template's methods make there do not show in later fields.
//     Decoders and reflect get the variables themselves.
//   - Fields whose type is an interface that a cell declares have interface types without
//     methods there; reflect.TypeFor of such an interface is an error.
//   - A type whose methods embedded interfaces of cells declare lacks these methods there.
//   - Struct types that refer to each other take long to declare if there are many: 50 take a
//     second, 70 take three, and more than 100 take minutes.
//
// # Limits
//
// Interpreted code runs some hundred times slower than compiled code; operations on
// tensors run at full speed. cgo, assembly, unsafe and package syscall are not
// available. A variable whose type is declared inside a function is kept only as a value
// of an interface type.
package interp
