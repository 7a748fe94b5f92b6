// Package diagnose finds what goes wrong under mixed precision, and says what to do.
//
// Each diagnosis takes the network and a function that runs one step of training,
// and returns a report: fields to test, sentences to print, a table to show.
package diagnose
