package symbols

import (
	"fmt"
	"log"
	"testing"
)

// Exit is the panic value of os.Exit in a cell: the kernel continues.
type Exit struct{ Code int }

func (e Exit) Error() string {
	return fmt.Sprintf("os.Exit(%d): a cell cannot end the kernel; return, or restart the kernel from the menu", e.Code)
}

// StopsCell keeps recover from stopping the panic: os.Exit cannot be recovered.
func (Exit) StopsCell() {}

func osExit(code int) { panic(Exit{code}) }

// The functions of log that would exit after the message behave like os.Exit in a cell.

func logFatal(v ...any) {
	log.Output(2, fmt.Sprint(v...))
	osExit(1)
}

func logFatalf(format string, v ...any) {
	log.Output(2, fmt.Sprintf(format, v...))
	osExit(1)
}

func logFatalln(v ...any) {
	log.Output(2, fmt.Sprintln(v...))
	osExit(1)
}

// testingMain panics: testing.Main reads the flags of the process and ends it.
func testingMain(func(pat, str string) (bool, error), []testing.InternalTest, []testing.InternalBenchmark, []testing.InternalExample) {
	panic("testing.Main: a cell cannot end the kernel, whose flags it would read; call the tests, or halfnote export and go test")
}
