// Command carry appends to a program what its compiled cells need, so that they need no Go:
//
//	go run ./interp/internal/native/carry PROGRAM [FLAG...] -- GO-COMMAND...
//
// The flags are those that the program was built with, and the go command is the one that built it, such as go or
// sh cuda/build.sh. The program may be one for another system, for which the compiler is then built.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"halfnote/interp/internal/native/object"
	"halfnote/interp/internal/native/toolchain"
)

func main() {
	args := os.Args[1:]
	split := slices.Index(args, "--")
	if split < 1 {
		fmt.Fprintln(os.Stderr, "usage: carry PROGRAM [FLAG...] -- GO-COMMAND...")
		os.Exit(2)
	}
	n, err := toolchain.Append(context.Background(), args[0], toolchain.Build{Dir: ".", Flags: args[1:split], Command: args[split+1:], Trim: object.Trim})
	if err != nil {
		fmt.Fprintln(os.Stderr, "carry:", err)
		os.Exit(1)
	}
	fmt.Printf("%s carries its compiler: %.1f MB\n", args[0], float64(n)/1e6)
}
