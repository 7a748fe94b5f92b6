package main

// row is a place where the project relies on a detail that Go or a module may change without notice.
type row struct {
	name  string
	on    string   // the detail
	files []string // files or folders with the code that relies on it
	pkg   string   // package of the tests
	tests []string
	mend  string
}

// rows are sorted by package and name.
var rows = []row{
	{
		name: "numbers of goroutines", on: "the register of `g`, that `runtime.g` holds the number of the goroutine in its first KiB, and the header of `runtime.Stack`",
		files: []string{"internal/goid"},
		pkg:   "internal/goid", tests: []string{"TestWay", "TestContract", "TestReused", "TestFallback", "TestHeaders"},
		mend: "nothing breaks: the slow way takes over; look for the place in `runtime/runtime2.go`",
	},
	{
		name: "names of metrics", on: "the metrics of package runtime/metrics for the heap and for cleanups",
		files: []string{"interp/run.go", "interp/internal/live/memory.go", "tensor/driver/memory.go", "tensor/driver/room.go"},
		pkg:   "internal/newgo", tests: []string{"TestMetrics"},
		mend: "use the name that `go doc runtime/metrics` has",
	},
	{
		name: "names on all systems", on: "files under build constraints that stand in for each other",
		files: []string{"internal/systems"},
		pkg:   "internal/systems", tests: []string{"TestCheck", "TestStale"},
		mend: "bring the file that fell behind up to date",
	},
	{
		name: "lowest macOS", on: "the lowest macOS that programs of the release run on",
		files: []string{"internal/wheel"},
		pkg:   "internal/wheel", tests: []string{"TestOldestMacOS"},
		mend: "the tags follow the program; add the release to `macOS` in `main_test.go` and to [python.md](python.md)",
	},
	{
		name: "exported programs", on: "that a `//go:build` line raises the language of a file; build information lists the modules",
		files: []string{"interp/internal/export"},
		pkg:   "interp", tests: []string{"TestExportedPrograms", "TestGoModHint"},
		mend: "correct `release.go` and `gomod.go`",
	},
	{
		name: "words about the newer language", on: "messages of go/parser and go/types for what an older Go does not know",
		files: []string{"interp/internal/syntax/newer.go", "interp/internal/hints/newer.go"},
		pkg:   "interp", tests: []string{"TestNewerLanguage"},
		mend: "add the message of the new feature; delete those of a release that no longer builds the module",
	},
	{
		name: "frames of compiled code", on: "frame pointers on amd64; names of functions in `runtime.FuncForPC`",
		files: []string{"interp/internal/engine"},
		pkg:   "interp/internal/engine", tests: []string{"TestFrames"},
		mend: "use `runtime.Callers`, as on other processors (`frames_other.go`)",
	},
	{
		name: "fatal errors", on: "names, types and places of the functions of the runtime that end the process, allocate large objects, help the collector and grow stacks",
		files: []string{"interp/internal/fatal", "interp/internal/native/loader/replace.go", "interp/internal/native/loader/stack.go"},
		pkg:   "interp/internal/fatal", tests: []string{"TestErrorsBecomePanics", "TestOthersStillEnd", "TestSource"},
		mend: "find where the release ends the process in `runtime/panic.go`, `malloc.go` and `stack.go`; what cannot be replaced ends it as in a program",
	},
	{
		name: "stacks as text", on: "the text that `runtime.Stack` prints for goroutines",
		files: []string{"interp/internal/live/deadlock.go"},
		pkg:   "interp/internal/live", tests: []string{"TestWaits"},
		mend: "extend the parser and its test by the new form, and keep the old one",
	},
	{
		name: "names in profiles", on: "the form `T[...].M[...]` of names",
		files: []string{"interp/internal/magic/usage.go"},
		pkg:   "interp/internal/magic", tests: []string{"TestCompiledCalls"},
		mend: "take the new form next to the old one",
	},
	{
		name: "names of generic code in tracebacks", on: "the form `T[...].M[...]` of names",
		files: []string{"interp/internal/native/panics.go"},
		pkg:   "interp/internal/native", tests: []string{"TestUnitName"},
		mend: "take the new form next to the old one",
	},
	{
		name: "descriptions of types in objects", on: "offsets in `abi.Type` and its variants",
		files: []string{"interp/internal/native/loader/describe.go"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestOffsets", "TestUncommon"},
		mend: "add the sizes of the release to `describe.go`",
	},
	{
		name: "functions of the runtime that cells call", on: "which functions of the runtime the linker leaves out of the program",
		files: []string{"interp/internal/native/loader/linked.go"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestLinked"},
		mend: "add a call to `linked.go`",
	},
	{
		name: "layout of module data", on: "`moduledata`, `_func`, `functab`, `pcHeader` and the like of package runtime",
		files: []string{"interp/internal/native/loader"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestLayout", "TestNames"},
		mend: "give the release a separate layout, as [compiled-cells.md](compiled-cells.md#a-new-release-of-go) describes",
	},
	{
		name: "places in cells", on: "that `//line` comments reach line tables as they are written, with `-trimpath /dev`",
		files: []string{"interp/internal/native/toolchain/compile.go"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestPanics", "TestUnits"},
		mend: "correct the flags of the compiler in `compile.go`, and in the loader's tests",
	},
	{
		name: "places that the linker fills in", on: "the relocations of objects, and how Go's linker applies them",
		files: []string{"interp/internal/native/loader/arch.go"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestLinker", "TestRelocationTypes"},
		mend: "compare `cmd/link/internal/{amd64,arm64}/asm.go` of both releases",
	},
	{
		name: "releases that the loader does not know", on: "that a new release builds, with Yaegi alone",
		files: []string{"interp/internal/native/loader/other.go", "interp/internal/native/object/unknown.go"},
		pkg:   "interp/internal/native/loader", tests: []string{"TestCheck", "TestUnknownRelease"},
		mend: "correct the build constraints, which name the known releases",
	},
	{
		name: "format of objects", on: "`cmd/internal/goobj`: sections, flags, numbers of relocations and symbols",
		files: []string{"interp/internal/native/object"},
		pkg:   "interp/internal/native/object", tests: []string{"TestConstants"},
		mend: "compare `cmd/internal/goobj/objfile.go` and `cmd/internal/objabi/reloctype.go` of both releases",
	},
	{
		name: "symbols that objects name by number", on: "`cmd/internal/goobj/builtinlist.go`",
		files: []string{"interp/internal/native/object"},
		pkg:   "interp/internal/native/object", tests: []string{"TestBuiltins"},
		mend: "`go generate ./interp/internal/native/object` with the release",
	},
	{
		name: "compiler of another release", on: "`GOTOOLCHAIN` and `go env GOVERSION GOTOOLDIR`",
		files: []string{"interp/internal/native/toolchain/command.go"},
		pkg:   "interp/internal/native/toolchain", tests: []string{"TestCompilerOfOtherRelease", "TestCompileAgain", "TestCompileErrors"},
		mend: "correct the flags of the compiler in `compile.go`",
	},
	{
		name: "identity of the program", on: "build IDs and build information; that the same link makes the same program",
		files: []string{"interp/internal/native/toolchain"},
		pkg:   "interp/internal/native/toolchain", tests: []string{"TestIdentity", "TestIdentityChanged", "TestIdentityReplaced"},
		mend: "compare what `go build -x` links in both releases with `link.sh`",
	},
	{
		name: "spans of type errors", on: "the unexported fields `go116start` and `go116end` of `types.Error`",
		files: []string{"interp/internal/syntax/span.go"},
		pkg:   "interp/internal/syntax", tests: []string{"TestSpanOf"},
		mend: "nothing is lost but the end of the underline; use the new fields",
	},
	{
		name: "calls of methods made at run time", on: "how Go passes pointers, words and named types in registers",
		files: []string{"interp/internal/typemaker/receivers.go"},
		pkg:   "interp/internal/typemaker", tests: []string{"TestSignatures", "TestCollector", "TestPanics"},
		mend: "correct the types of functions in `receivers.go`",
	},
	{
		name: "descriptions of types made at run time", on: "`abi.Type` and its variants, and `reflect.addReflectOff`",
		files: []string{"interp/internal/typemaker"},
		pkg:   "interp/internal/typemaker", tests: []string{"TestLayout", "TestFacts", "TestDescriptions"},
		mend: "add a `release_*.go` with what is different, and the release to `release_known.go`",
	},
	{
		name: "stubs of methods made at run time", on: "the register of closures, and that `reflect.makeFuncStub` takes its arguments as it finds them",
		files: []string{"interp/internal/typemaker"},
		pkg:   "interp/internal/typemaker", tests: []string{"TestStubs", "TestManyArguments", "TestHarsh"},
		mend: "change the three instructions of `stubs_*.s`",
	},
	{
		name: "Yaegi's fields", on: "unexported fields and functions of Yaegi v0.16.1, linknames into it",
		files: []string{"interp/internal/yaegi"},
		pkg:   "interp/internal/yaegi", tests: []string{"TestRunIDField", "TestCompilerPanic"},
		mend: "only a new Yaegi changes them: compare `interp/interp.go`, `scope.go` and `run.go` of both versions",
	},
	{
		name: "types that refer to themselves", on: "places of pointers in descriptions of types; Yaegi's description of types",
		files: []string{"interp/internal/yaegi/cycles.go"},
		pkg:   "interp/internal/yaegi", tests: []string{"TestCycles"},
		mend: "correct the places in `cycles.go`",
	},
	{
		name: "pacing of the collector", on: "when Go's collector starts a cycle, and that cleanups run after it",
		files: []string{"tensor/internal/cpu/gcpace.go", "tensor/internal/cpu/memory.go"},
		pkg:   "tensor/internal/cpu", tests: []string{"TestGarbageIsReusedFirst", "TestCachedMemoryIsReleased", "TestReleasedMemoryIsReused"},
		mend: "measure `go run . bench ops` with both releases, and correct the constants in `gcpace.go`",
	},
	{
		name: "scalars of float16", on: "x448/float16 rounds to nearest even and keeps the payload of NaN",
		files: []string{"tensor/internal/half"},
		pkg:   "tensor/internal/half", tests: []string{"TestValuesOfAllPatterns", "TestRounding", "TestScalarsAndSlices"},
		mend: "keep the version of the module in `go.mod`",
	},
}
