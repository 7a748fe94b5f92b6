// Package eval is the contract between a Jupyter kernel and the program that runs its cells: the methods of
// an [Evaluator], the further methods that add features, and the values that they exchange. It knows
// nothing of sockets, messages, files or processes, so that an evaluator compiles on every system. Package
// kernel serves an Evaluator to front ends.
package eval

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"halfnote/display"
)

// Evaluator runs cells. The kernel calls Eval from one goroutine at a time. Every other
// method may be called at any time, including while a cell runs, and must return soon.
type Evaluator interface {
	// Language describes the language of cells, for kernel_info_reply.
	Language() Language
	// Eval runs one cell to its end. An interrupt cancels ctx: Eval must then return
	// soon, with an Error in its Result and all state still usable. Eval must not
	// panic; errors of the cell are in the Result.
	Eval(ctx context.Context, cell Cell, out Output) Result
	// IsComplete reports whether code is ready to run.
	IsComplete(code string) Completeness
	// Close ends the session and tells the goroutines of cells to stop.
	Close() error
}

// Completer is an Evaluator that completes and explains names. Offsets count
// Unicode code points, as Jupyter's do.
type Completer interface {
	Complete(code string, cursor int) Completion
	// Inspect describes the name at cursor; ok is false if there is no description.
	// detail is 0, or 1 to include the source.
	Inspect(code string, cursor, detail int) (b display.Bundle, ok bool)
}

// Interrupter is an Evaluator that stops more than the running cell.
type Interrupter interface {
	// Interrupt is called at each interrupt by the user, also when no cell is running, after the contexts of running cells and callbacks
	// have been cancelled.
	Interrupt()
}

// CommUser is an Evaluator that exchanges messages with front ends through comms, for
// example for widgets.
type CommUser interface {
	// UseComms is called once, before the first cell.
	UseComms(Comms)
}

// OutputUser is an Evaluator that shows the outputs of earlier cells again.
type OutputUser interface {
	// UseOutputs is called once, before the first cell, if outputs are kept.
	UseOutputs(KeptOutputs)
	// OutputCell returns the cell that shows the outputs of In[count], for notices: "%output 3".
	OutputCell(count int) string
}

// KeptOutputs returns outputs that the kernel kept. back selects a kernel: 0 is this one, 1 the last
// one of the same notebook before it that has outputs, and so on. Its methods may be called from
// any goroutine.
type KeptOutputs interface {
	// Cells returns the cells that have outputs, oldest first.
	Cells(back int) ([]KeptCell, error)
	// Outputs returns the outputs of cell In[count]; nil if there are none.
	Outputs(back, count int) ([]KeptOutput, error)
	// Sources returns the cells that ran, oldest first, with or without output. Only Count, Source and Failed are set. It returns
	// none of another kernel if the kernel does not know its notebook.
	Sources(back int) ([]KeptCell, error)
}

// KeptCell is a cell with kept outputs.
type KeptCell struct {
	Count           int // n of In[n]
	Source          string
	Took            time.Duration // 0 if the cell was running when it was last written
	Lines, Displays int           // lines of text, and other outputs
	Failed          string        // name of its error; "" for none
}

// KeptOutput is one output of a cell: text of a stream, an error or anything else.
type KeptOutput struct {
	Stream, Text string // Stream is "stdout" or "stderr"
	Err          *Error
	Bundle       display.Bundle
}

// RankUser is an Evaluator that shows what the other ranks of its kernel did.
type RankUser interface {
	// UseRanks is called once, before the first cell, if the kernel has several ranks.
	UseRanks(Ranks)
}

// Ranks describes the processes that run the cells of one kernel. Its methods may be called from any
// goroutine.
type Ranks interface {
	// List returns the ranks, in order; nil on ranks other than 0, whose output rank 0 shows.
	List() []RankState
	// Outputs returns what a rank showed in the cell before the running one.
	Outputs(rank int) ([]KeptOutput, error)
}

// RankState is one rank.
type RankState struct {
	Rank   int
	Host   string
	Pid    int
	Output string // what it showed in the cell before, in words
}

// Comms opens comms and accepts those that front ends open. Its methods may be called
// from any goroutine.
type Comms interface {
	// Register sets the function for a target; nil removes the target. A comm that a front
	// end opens with an unknown target is closed at once.
	Register(target string, opened CommOpened)
	// Open opens a comm with a target of the front ends. The comm belongs to the cell
	// of out, an Output that the kernel passed in, or nil.
	Open(target string, m CommMessage, out Output, h CommHandler) (Comm, error)
}

// Comm is an open channel to the front ends. Its methods may be called from any
// goroutine.
type Comm interface {
	ID() string
	Target() string
	// Send sends a message to the front ends. out is the cause of the message: the
	// Output of a cell, to which the comm belongs from then on, the Output given to a
	// callback, or nil for neither. Send waits while front ends are slow to read, and
	// fails if the comm is closed.
	Send(m CommMessage, out Output) error
	// Close tells the front ends that the comm has ended. Closing again does nothing.
	Close(m CommMessage, out Output) error
}

// CommOpened accepts a comm that a front end opened with the target, and returns the
// handler of its messages.
type CommOpened func(ctx context.Context, c Comm, m CommMessage, out Output) CommHandler

// CommHandler handles the messages of front ends. The callbacks of one comm run one
// after the other, but concurrently with a running cell and with the callbacks of other
// comms. An interrupt cancels ctx. Their output goes to the cell that the comm belongs
// to, because front ends drop output whose parent is a comm message. Messages for nil
// functions are ignored.
type CommHandler struct {
	Message func(ctx context.Context, m CommMessage, out Output)
	// Closed is called when the front end has closed the comm.
	Closed func(ctx context.Context, m CommMessage, out Output)
}

// CommMessage is the content of comm_open, comm_msg and comm_close.
type CommMessage struct {
	Data     json.RawMessage // an object; nil is {}
	Metadata json.RawMessage // metadata of the message, an object; nil is {}
	Buffers  [][]byte        // buffers, read-only
}

// VariableLister is an Evaluator that lists its variables for the variable panels of
// front ends.
type VariableLister interface {
	// Variables returns the variables that cells have declared, in display order.
	Variables() []Variable
}

// Variable is a variable or a part of one.
type Variable struct {
	Name  string // "x"; for a part: field ".Field" is "Field", an element is "[0]"
	Type  string
	Value string // value on one short line
	// Children returns the current parts of the value; nil if it has none. It is called
	// from any goroutine when a front end expands the value.
	Children func() []Variable
	// Rich returns the value as a cell would show it; nil when Value is sufficient.
	Rich func() display.Bundle
}

// Debugger is an Evaluator whose cells can be stopped and inspected. Its methods may be
// called at any time. While a cell is stopped, the methods of VariableLister show its
// current variables.
type Debugger interface {
	// Debug enables breakpoints in cells that run from now on. event is called when a
	// cell stops and when it resumes, on the cell's goroutine, and must not call the
	// Debugger. Debug(nil) disables debugging: stopped cells resume and breakpoints are
	// forgotten.
	Debug(event func(DebugEvent))
	// SetBreakpoints replaces the breakpoints of cells with that source. It returns their
	// lines, counted from 1: each is moved to the next line that holds code.
	SetBreakpoints(code string, lines []int) []int
	// StopAtPanics sets whether a panic that would end a cell stops it first, with the
	// calls and variables of the panic.
	StopAtPanics(yes bool)
	// Pause stops the next cell or goroutine that reaches a statement.
	Pause()
	// Stopped returns the stopped threads.
	Stopped() []int
	// Stack returns the active calls of a stopped thread, innermost first.
	Stack(thread int) []DebugFrame
	// Resume resumes a stopped thread. how is "continue" to run to the next breakpoint,
	// or "next", "stepIn" or "stepOut" for one step.
	Resume(thread int, how string) error
}

// DebugEvent reports that a thread has stopped or resumed.
type DebugEvent struct {
	Thread int
	Reason string // "breakpoint", "step", "pause" or "exception"; "" for resumed
	Text   string // the panic's message, for "exception"
}

// DebugFrame is a call of a function of a cell.
type DebugFrame struct {
	Function string
	Code     string // source of the cell
	Line     int    // line, from 1
	// Locals returns the variables visible in the call, with their values at the time
	// of the call to Locals.
	Locals func() []Variable
}

// Language describes a language as kernel_info_reply's language_info does.
type Language struct {
	Name           string // "go"
	Version        string // version of the language, "1.26"
	MIMEType       string // "text/x-go"
	FileExtension  string // ".go"
	PygmentsLexer  string
	CodeMirrorMode string
	Exporter       string // nbconvert's exporter for programs; default "script", which joins the cells
	Banner         string // text that a console shows at start
	Implementation string // "halfnote"
	Release        string // version of the implementation
	Engine         string // how cells run, such as "compiled cells"; may be ""
}

// Cell is the content of one execute_request.
type Cell struct {
	Code string
	// Count is the execution count, the n of In[n]. A cell that is excluded from
	// history carries the count of the last cell in history.
	Count int
	// Silent cells leave no trace in history, and front ends show nothing of them.
	// Their Value still counts: it may be the value of one of user_expressions.
	Silent bool
	// Missed is the count of an earlier cell that ran for another front end, which may have
	// left before it ended; 0 for none. It is set once for each new front end.
	Missed int
}

// Output is the destination of one cell's output. It stays valid after the cell has
// ended: later output still goes to that cell. All methods may be called from any
// goroutine. Writes block while front ends are slow to read, but never beyond the end
// of the cell's ctx.
type Output interface {
	display.Sink
	Stdout() io.Writer
	Stderr() io.Writer
}

// Inputter is an Output that can ask the user for a line of text.
type Inputter interface {
	// Input shows prompt and waits for a line, which it returns without the newline. It
	// fails if the front end does not accept input requests, and when ctx ends.
	Input(ctx context.Context, prompt string, password bool) (string, error)
}

// Result is the outcome of a cell.
type Result struct {
	// Value is the value of the last expression, for execute_result; nil for none.
	Value *display.Bundle
	// Payload holds pages for the front end's pager, "?" for example.
	Payload []Payload
	// Err is nil if the cell ran to its end.
	Err *Error
}

// Payload is one entry of execute_reply's payload.
type Payload struct {
	Source  string         // "page", "set_next_input", or "ask_exit", which ends a console
	Data    display.Bundle // content of page
	Text    string         // text for set_next_input
	Replace bool           // for set_next_input: the text replaces the cell
}

// Error describes a failed cell to its reader: the fields of Jupyter's error message.
// Traceback lines may hold ANSI colours.
type Error struct {
	Name      string // "CompileError", "Panic", "Interrupted", …
	Value     string // message on one line
	Traceback []string
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// Completeness is the answer to is_complete_request.
type Completeness struct {
	Status string // "complete", "incomplete", "invalid" or "unknown"
	Indent string // indentation of the next line, for "incomplete"
}

// Completion is the answer to complete_request: Matches replace the code points from
// Start to End.
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
