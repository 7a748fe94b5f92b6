package kernel

import "halfnote/kernel/eval"

// The types of package eval, under the names that serving an evaluator needs.
type (
	Evaluator      = eval.Evaluator
	Completer      = eval.Completer
	CommUser       = eval.CommUser
	OutputUser     = eval.OutputUser
	KeptOutputs    = eval.KeptOutputs
	KeptCell       = eval.KeptCell
	KeptOutput     = eval.KeptOutput
	RankUser       = eval.RankUser
	Ranks          = eval.Ranks
	RankState      = eval.RankState
	Comms          = eval.Comms
	Comm           = eval.Comm
	CommOpened     = eval.CommOpened
	CommHandler    = eval.CommHandler
	CommMessage    = eval.CommMessage
	VariableLister = eval.VariableLister
	Variable       = eval.Variable
	Debugger       = eval.Debugger
	Interrupter    = eval.Interrupter
	DebugEvent     = eval.DebugEvent
	DebugFrame     = eval.DebugFrame
	Language       = eval.Language
	Cell           = eval.Cell
	Output         = eval.Output
	Inputter       = eval.Inputter
	Result         = eval.Result
	Payload        = eval.Payload
	Error          = eval.Error
	Completeness   = eval.Completeness
	Completion     = eval.Completion
	Match          = eval.Match
)
