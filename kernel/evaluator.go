package kernel

import (
	"context"
	"encoding/json"
	"io"

	"halfnote/display"
)

// Evaluator runs cells. The kernel calls Eval from one goroutine at a time;
// every other method may be called at any time, also while a cell runs, and must
// return soon.
type Evaluator interface {
	// Language describes what cells are written in, for kernel_info_reply.
	Language() Language
	// Eval runs one cell to its end. An interrupt cancels ctx: Eval must then
	// return soon, with an Error in its Result, and all state must stay usable.
	// Eval does not panic: what goes wrong in a cell is in the Result.
	Eval(ctx context.Context, cell Cell, out Output) Result
	// IsComplete reports whether code can run as it stands.
	IsComplete(code string) Completeness
	// Close ends the session: goroutines of cells are told to stop.
	Close() error
}

// Completer is an Evaluator that completes and explains names. Offsets count
// Unicode code points, as Jupyter's do.
type Completer interface {
	Complete(code string, cursor int) Completion
	// Inspect describes the name at cursor; ok is false when there is nothing to
	// say. detail is 0, or 1 for source as well.
	Inspect(code string, cursor, detail int) (b display.Bundle, ok bool)
}

// CommUser is an Evaluator that talks with front ends through comms, as widgets
// do.
type CommUser interface {
	// UseComms is called once, before the first cell.
	UseComms(Comms)
}

// Comms opens comms and takes those that front ends open. Its methods may be
// called from any goroutine.
type Comms interface {
	// Register makes a target known; nil forgets it. Front ends that open a comm
	// with a target that is not known are told that it is closed.
	Register(target string, opened CommOpened)
	// Open opens a comm with a target of the front ends. It belongs to the cell
	// of out, which is an Output as the kernel passed it, or nil.
	Open(target string, m CommMessage, out Output, h CommHandler) (Comm, error)
}

// Comm is a conversation with the front ends that is open. Its methods may be
// called from any goroutine.
type Comm interface {
	ID() string
	Target() string
	// Send sends a message to the other side. out says what brought it about:
	// the Output of a cell, to which the comm belongs from then on, or the one
	// that a callback was given; nil for neither. It waits while front ends are
	// slow to read, and fails when the comm is closed.
	Send(m CommMessage, out Output) error
	// Close tells the other side that the comm has ended. Closing again does
	// nothing.
	Close(m CommMessage, out Output) error
}

// CommOpened takes a comm that a front end opened with the target, and returns
// what handles its messages.
type CommOpened func(ctx context.Context, c Comm, m CommMessage, out Output) CommHandler

// CommHandler handles what a front end sends. A comm's callbacks run one after
// the other, but beside a running cell and beside the callbacks of other comms.
// An interrupt cancels ctx. What they print and display goes to the cell that
// the comm belongs to: front ends drop output whose parent is a comm's message.
// Nil functions ignore what comes.
type CommHandler struct {
	Message func(ctx context.Context, m CommMessage, out Output)
	// Closed is called when the front end closed the comm.
	Closed func(ctx context.Context, m CommMessage, out Output)
}

// CommMessage is what comm_open, comm_msg and comm_close carry.
type CommMessage struct {
	Data     json.RawMessage // an object; nil is {}
	Metadata json.RawMessage // of the message, an object; nil is {}
	Buffers  [][]byte        // not to be changed
}

// VariableLister is an Evaluator whose variables can be looked at, for the
// variable panels of front ends.
type VariableLister interface {
	// Variables returns what cells have declared, in the order to be shown.
	Variables() []Variable
}

// Variable is a variable, or a part of one.
type Variable struct {
	Name  string // "x"; of a part ".Field" is "Field", an element "[0]"
	Type  string
	Value string // one short line
	// Children returns the parts that the value has now; nil when it has none. It
	// is called when somebody looks at them, from any goroutine.
	Children func() []Variable
	// Rich returns how a cell would show the value; nil when Value says it all.
	Rich func() display.Bundle
}

// Debugger is an Evaluator whose cells can be stopped and looked at. Its methods may be
// called at any time. While a cell has stopped, the methods of VariableLister show its
// variables as they are.
type Debugger interface {
	// Debug has the cells that run from now on stop where they are told to. event is
	// called when one has stopped and when it goes on, by the cell's goroutine, and must
	// not call the Debugger. nil ends that: what has stopped goes on, and breakpoints are
	// forgotten.
	Debug(event func(DebugEvent))
	// SetBreakpoints sets the breakpoints of cells with that source, in place of those
	// that it had. It returns the lines, from 1, that were meant: comments are no code.
	SetBreakpoints(code string, lines []int) []int
	// Pause stops the next cell or goroutine that comes to a statement.
	Pause()
	// Stopped returns the threads that have stopped.
	Stopped() []int
	// Stack returns the calls under way in a thread that has stopped, innermost first.
	Stack(thread int) []DebugFrame
	// Resume lets a thread that has stopped go on: to the next breakpoint, which is how
	// "continue", or for one step, "next", "stepIn" or "stepOut".
	Resume(thread int, how string) error
}

// DebugEvent says that a thread has stopped, or that it goes on.
type DebugEvent struct {
	Thread int
	Reason string // "breakpoint", "step" or "pause"; "" when it goes on
}

// DebugFrame is a call of a function of a cell.
type DebugFrame struct {
	Function string
	Code     string // the source of the cell that it is in
	Line     int    // from 1
	// Locals returns the variables that can be seen in the call, as they are when it is
	// called.
	Locals func() []Variable
}

// Language describes a language the way kernel_info_reply's language_info does.
type Language struct {
	Name           string // "go"
	Version        string // of the language, "1.26"
	MIMEType       string // "text/x-go"
	FileExtension  string // ".go"
	PygmentsLexer  string
	CodeMirrorMode string
	Banner         string // what a console shows at start
	Implementation string // "halfnote"
	Release        string // version of the implementation
}

// Cell is the source of one execute_request.
type Cell struct {
	Code string
	// Count is the execution count, the n of In[n]. A cell that a front end
	// wants left out of its history carries the count of the last one that is
	// in it.
	Count int
	// Silent cells leave no trace in history, and nothing of them is shown.
	// Their Value counts all the same: a front end may have asked for it, as
	// one of user_expressions.
	Silent bool
}

// Output is where one cell's output goes. It stays valid after the cell has
// ended: what comes late still reaches the cell that it belongs to. All methods
// may be called from any goroutine. Writes block while front ends are slow to
// read, but never longer than the cell's ctx lives.
type Output interface {
	display.Sink
	Stdout() io.Writer
	Stderr() io.Writer
}

// Inputter is an Output that can ask the user for a line of text.
type Inputter interface {
	// Input shows prompt and waits for a line, which it returns without its
	// newline. It fails when the front end cannot be asked, and when ctx ends.
	Input(ctx context.Context, prompt string, password bool) (string, error)
}

// Result is how a cell ended.
type Result struct {
	// Value is what the last expression shows, execute_result; nil for none.
	Value *display.Bundle
	// Payload holds pages that front ends show in a pager, "?" for example.
	Payload []Payload
	// Err is nil when the cell ran to its end.
	Err *Error
}

// Payload is one entry of execute_reply's payload.
type Payload struct {
	Source  string         // "page", "set_next_input"
	Data    display.Bundle // for page
	Text    string         // for set_next_input
	Replace bool           // for set_next_input: the text replaces the cell
}

// Error is what a failed cell tells its reader: the fields of Jupyter's error
// message. Traceback lines may hold ANSI colours.
type Error struct {
	Name      string // "CompileError", "Panic", "Interrupted", …
	Value     string // one line
	Traceback []string
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// Completeness is the answer to is_complete_request.
type Completeness struct {
	Status string // "complete", "incomplete", "invalid" or "unknown"
	Indent string // for "incomplete": what the next line should start with
}

// Completion is the answer to complete_request: Matches replace the code points
// from Start to End.
type Completion struct {
	Start, End int
	Matches    []Match
}

// Match is one completion.
type Match struct {
	Text      string
	Type      string // "function", "type", "module", "variable", "constant", "keyword", "field", "method"
	Signature string
}
