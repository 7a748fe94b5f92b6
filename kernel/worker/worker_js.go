package worker

import (
	"context"
	"fmt"
	"syscall/js"

	"halfnote/kernel"
)

// Serve runs a kernel for the page that started this worker, until the page sends a shutdown_request. The worker and the page exchange
// objects by postMessage:
//
//	{text, buffers, size}  a message in the form of Jupyter's front ends as JSON, and its buffers; size is there from the kernel
//	{taken}                from the page: the sizes of messages that it has taken since it last said so
//
// A script that starts the program may keep objects that arrive before in an array with the name early.
func Serve(ctx context.Context, c kernel.Config, e kernel.Evaluator) error {
	self := js.Global()
	bytes := self.Get("Uint8Array")
	t := New(func(text []byte, buffers [][]byte) {
		list, size := make([]any, len(buffers)), len(text)
		for i, b := range buffers {
			a := bytes.New(len(b))
			js.CopyBytesToJS(a, b)
			list[i] = a.Get("buffer")
			size += len(b)
		}
		self.Call("postMessage", map[string]any{"text": string(text), "buffers": list, "size": size}, append([]any{}, list...))
	})
	receive := func(data js.Value) {
		if taken := data.Get("taken"); !taken.IsUndefined() {
			t.Taken(taken.Int())
			return
		}
		var buffers [][]byte
		if list := data.Get("buffers"); list.Truthy() {
			for i := range list.Length() {
				a := bytes.New(list.Index(i))
				b := make([]byte, a.Length())
				js.CopyBytesToGo(b, a)
				buffers = append(buffers, b)
			}
		}
		if err := t.Receive([]byte(data.Get("text").String()), buffers); err != nil {
			self.Get("console").Call("warn", fmt.Sprint("halfnote: dropped a message: ", err))
		}
	}
	onmessage := js.FuncOf(func(_ js.Value, args []js.Value) any {
		receive(args[0].Get("data"))
		return nil
	})
	defer onmessage.Release()
	self.Set("onmessage", onmessage)
	if early := self.Get("early"); early.Truthy() {
		for i := range early.Length() {
			receive(early.Index(i))
		}
	}
	return kernel.Serve(ctx, c, t, e)
}
