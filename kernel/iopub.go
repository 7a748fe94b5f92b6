package kernel

import (
	"context"

	"halfnote/display"
)

// iopub is the channel on which the kernel broadcasts.
type iopub struct {
	k       *kernel
	waiting chan waiting // messages of senders that must not wait
}

// waiting is a queued message, or done, which is closed in its turn.
type waiting struct {
	message Message
	done    chan struct{}
}

type status struct {
	State string `json:"execution_state"`
}

func newIOPub(k *kernel) *iopub {
	return &iopub{k: k, waiting: make(chan waiting, 1024)}
}

// publish sends a message; it waits while subscribers are slow, until ctx ends.
func (p *iopub) publish(ctx context.Context, parent Header, msgType string, content any) error {
	body, err := encode(content)
	if err != nil {
		return err
	}
	return p.publishMessage(ctx, msgType, Message{Parent: parent, Content: body})
}

// publishMessage is publish for a message that lacks only its header.
func (p *iopub) publishMessage(ctx context.Context, msgType string, m Message) error {
	return p.k.transport.Publish(ctx, p.message(msgType, m))
}

func (p *iopub) message(msgType string, m Message) Message {
	m.Header = p.k.session.Header(msgType)
	return m
}

// later queues a message without waiting for subscribers.
func (p *iopub) later(parent Header, msgType string, content any) {
	select {
	case p.waiting <- waiting{message: p.message(msgType, Message{Parent: parent, Content: mustEncode(content)})}:
	default:
		p.k.log.Printf("iopub: dropped %s: %d messages are already queued", msgType, cap(p.waiting))
	}
}

// loop sends the messages that later queued.
func (p *iopub) loop() {
	for {
		select {
		case w := <-p.waiting:
			if w.done != nil {
				close(w.done)
				continue
			}
			p.k.transport.Publish(p.k.life, w.message)
		case <-p.k.life.Done():
			return
		}
	}
}

// wait returns when loop has sent the messages queued so far, or when ctx ends.
func (p *iopub) wait(ctx context.Context) {
	done := make(chan struct{})
	select {
	case p.waiting <- waiting{done: done}:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// welcome returns the first messages of a new subscriber: those of protocol 5.5, and
// notices of lost output.
func (k *kernel) welcome(topic string) []Message {
	hello := k.iopub.message("iopub_welcome", Message{Content: mustEncode(object{"subscription": topic})})
	return append([]Message{hello}, k.lost.notices()...)
}

// bundle returns the data and metadata of b without values that JSON cannot hold: an
// infinite number in one representation must not cost the others.
func bundle(b display.Bundle) (data, metadata object) {
	return encodable(b.Data), encodable(b.Metadata)
}

func encodable(m map[string]any) object {
	out := make(object, len(m))
	for name, v := range m {
		raw, err := encode(v)
		if err != nil {
			if name == "text/plain" {
				out[name] = err.Error()
			}
			continue
		}
		out[name] = raw
	}
	return out
}
