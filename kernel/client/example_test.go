package client_test

import (
	"context"
	"fmt"

	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

// This example uses the kernel of the tests. In its language "print" prints the rest of the line.
// For an installed kernel, use the spec that client.FindSpec("halfnote") returns.
func ExampleKernel_Execute() {
	ctx := context.Background()
	k, err := client.Start(ctx, kerneltest.EchoSpec(), client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	reply, err := k.Execute(ctx, "print hello\nresult 42", client.ExecuteOptions{}, func(m client.Message) {
		var c struct {
			Text string
			Data map[string]string
		}
		switch m.Decode(&c); m.Header.Type {
		case "stream":
			fmt.Print(c.Text)
		case "execute_result":
			fmt.Println("result:", c.Data["text/plain"])
		}
	})
	fmt.Println(reply.Status, reply.ExecutionCount, err)
	// Output:
	// hello
	// result: 42
	// ok 1 <nil>
}
