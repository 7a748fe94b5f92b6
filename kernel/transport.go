package kernel

import "context"

// Channel is a channel of the protocol on which front ends send to the kernel.
type Channel string

// The channels. Iopub, on which the kernel publishes, is not one of them, and the heartbeat has no messages.
const (
	Shell   Channel = "shell"
	Control Channel = "control"
	Stdin   Channel = "stdin"
)

// Transport carries messages between one kernel and its front ends. Package halfnote/kernel/jupyter has the one
// of Jupyter's servers, halfnote/kernel/worker that of a page in a browser.
type Transport interface {
	// Open starts to receive. Its error ends [Serve]; Close is called then too.
	Open(Hooks) error
	// Send sends a message to the front end that m.Prefix names, as received in its request. It does not wait for a front
	// end that is slow, and one that has left is not an error. It may be called from any goroutine, as may Publish.
	Send(c Channel, m Message) error
	// Publish sends a message on iopub to all front ends. It waits while all of them are slow, until ctx ends; its error is
	// then ctx's.
	Publish(ctx context.Context, m Message) error
	// Close sends what waits, until ctx ends, and stops: no hook is called after it. again reports whether a kernel
	// for the same front ends follows. It is called once, after the last cell.
	Close(ctx context.Context, again bool)
}

// Hooks are the functions of a kernel that its transport calls.
type Hooks struct {
	// Receive takes a message. A transport calls it from one goroutine for each channel: the messages of the shell may
	// have to wait, those of other channels do not.
	Receive func(Channel, Message)
	// Welcome returns the first messages of a front end that subscribes to a topic of iopub; "" is all topics. It does not wait.
	Welcome func(topic string) []Message
	// Cut is called before a front end is disconnected because it does not read.
	Cut func()
	// Session is the session of the kernel's messages.
	Session string
	// Interrupt ends the running cell, like an interrupt_request.
	Interrupt func()
}

// hooks returns the functions of k.
func (k *kernel) hooks() Hooks {
	return Hooks{
		Receive: func(c Channel, m Message) {
			r := &request{Message: m, channel: c}
			switch c {
			case Shell:
				k.queueRequest(r)
			case Control:
				k.control(r)
			case Stdin:
				k.answerInput(r)
			}
		},
		Welcome: k.welcome, Cut: k.lost.note, Session: k.session.ID, Interrupt: k.interrupt,
	}
}
