package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// TestCommsWhileTraining sends comm messages on a subshell while a cell keeps every
// processor busy, and says how long the answers take. Each must come while the cell
// runs.
func TestCommsWhileTraining(t *testing.T) {
	k, err := startKernel(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var subshell struct {
		ID string `json:"subshell_id"`
	}
	m, err := k.Request(ctx, "control", "create_subshell_request", struct{}{})
	if err == nil {
		err = m.Decode(&subshell)
	}
	if err != nil || subshell.ID == "" {
		t.Fatalf("no subshell: %s, %v", m.Content, err)
	}
	started, stop, asked := make(chan bool), make(chan bool), false
	var took []time.Duration
	go func() {
		defer close(stop)
		<-started
		for i := range 300 {
			start := time.Now()
			c, err := k.SendRequest(client.Request{Channel: "shell", Type: "comm_open", Subshell: subshell.ID, Content: map[string]any{
				"comm_id": fmt.Sprint("slider ", i), "target_name": "nobody", "data": map[string]int{"value": i},
			}})
			if err != nil {
				t.Error(err)
				break
			}
			answered := time.Duration(-1)
			err = c.Idle(ctx, func(m client.Message) {
				if m.Header.Type == "comm_close" {
					answered = time.Since(start)
				}
			})
			if err != nil || answered < 0 {
				t.Errorf("message %d: no answer: %v", i, err)
				break
			}
			took = append(took, answered)
		}
		if err := k.Interrupt(ctx); err != nil {
			t.Error(err)
		}
	}()
	const train = `a := tensor.Ones(256, 256)
fmt.Println("training")
for { a.MatMul(a) }`
	reply, err := k.Execute(ctx, train, client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" && !asked {
			asked = true
			close(started)
		}
	})
	if err != nil || reply.ErrorName != "Interrupted" {
		t.Fatalf("the training cell got %+v, %v; want that it runs until it is interrupted", reply, err)
	}
	<-stop
	slices.Sort(took)
	t.Logf("%d answers beside a training cell: p50 %v, p99 %v, worst %v", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
