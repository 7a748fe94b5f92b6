// Package diagnose finds what goes wrong under mixed precision, and says what to do.
//
// Each diagnosis takes the network and a function that runs one step of training,
// and returns a report: fields to test, sentences to print, a table to show.
//
// [Lint] looks at how a step uses mixed precision: the order of its calls, pairs of
// operations, dtypes, sizes.
//
//	diagnose.Lint(net, func() { … one step … })
//
// A diagnosis listens to the operations and scalers of the whole process: nothing else
// should train meanwhile.
package diagnose
