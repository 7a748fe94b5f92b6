package kerneltest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"halfnote/display"
	"halfnote/kernel"
)

// UseComms keeps the kernel's comms for the commands open, send, close and target.
func (e *Echo) UseComms(c kernel.Comms) { e.comms = c }

func (e *Echo) setComm(c kernel.Comm) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.comm = c
}

func said(text string) kernel.CommMessage {
	data, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return kernel.CommMessage{Data: data, Metadata: json.RawMessage(`{"version":"1"}`)}
}

func (e *echo) talk(how func(kernel.Comm, kernel.CommMessage, kernel.Output) error, text string) {
	e.mu.Lock()
	c := e.comm
	e.mu.Unlock()
	if c == nil {
		e.fail("CommError", "no comm is open")
		return
	}
	if err := how(c, said(text), e.out); err != nil {
		e.fail("CommError", err.Error())
	}
}

// handler sends every message back. The text "print" is printed, "panic" panics, and
// "wait" waits for an interrupt.
func (e *Echo) handler(target string) kernel.CommHandler {
	return kernel.CommHandler{
		Message: func(ctx context.Context, m kernel.CommMessage, out kernel.Output) {
			e.mu.Lock()
			c := e.comm
			e.mu.Unlock()
			var data struct{ Text string }
			json.Unmarshal(m.Data, &data)
			switch data.Text {
			case "panic":
				panic("requested by the test")
			case "print":
				fmt.Fprintf(out.Stdout(), "%s says %s\n", target, m.Data)
			case "wait":
				c.Send(said("waiting"), out)
				<-ctx.Done()
			}
			c.Send(m, out)
		},
		Closed: func(ctx context.Context, m kernel.CommMessage, out kernel.Output) {
			fmt.Fprintf(out.Stdout(), "%s closed with %s\n", target, m.Data)
		},
	}
}

// Variables returns the values that the command set has kept. The parts of a value are
// its letters.
func (e *Echo) Variables() []kernel.Variable {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []kernel.Variable
	for name, value := range e.values {
		list = append(list, kernel.Variable{
			Name: name, Type: "text", Value: value,
			Children: func() []kernel.Variable {
				var letters []kernel.Variable
				for i, r := range []rune(value) {
					letters = append(letters, kernel.Variable{Name: fmt.Sprintf("[%d]", i), Type: "letter", Value: string(r)})
				}
				return letters
			},
			Rich: func() display.Bundle {
				return display.Bundle{Data: map[string]any{"text/plain": value, "text/html": "<b>" + value + "</b>"}}
			},
		})
	}
	slices.SortFunc(list, func(a, b kernel.Variable) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
