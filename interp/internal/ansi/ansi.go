// Package ansi styles the text of messages with the escape sequences of terminals. The text of
// errors has the front end's own colour, because no colour has a contrast of 4.5:1 with both a
// white and a black page. What needs a colour brings its own background.
package ansi

// Bold returns a text in bold.
func Bold(s string) string { return "\x1b[1m" + s + "\x1b[0m" }

// Dim returns a text that a terminal shows fainter.
func Dim(s string) string { return "\x1b[2m" + s + "\x1b[0m" }

// Alarm returns a text in white on red, of the 256 colours that terminals share: #ffffff on #af0000.
func Alarm(s string) string { return "\x1b[1;38;5;231;48;5;124m" + s + "\x1b[0m" }
