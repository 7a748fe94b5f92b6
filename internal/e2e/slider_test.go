package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// commMessage is the content of comm_open and comm_msg.
type commMessage struct {
	ID     string `json:"comm_id"`
	Target string `json:"target_name"`
	Data   struct {
		Method string         `json:"method"`
		State  map[string]any `json:"state"`
	} `json:"data"`
}

// TestSliderWhileTraining drags a slider while its cell trains, through a subshell as front ends do, and checks
// that the callback answers while the cell runs. The test logs the latency.
func TestSliderWhileTraining(t *testing.T) {
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
		t.Fatalf("create_subshell_request: got %s, %v, want a subshell_id", m.Content, err)
	}
	const train = `scale := widget.NewIntSlider(0, 0, 1000, widget.Description("scale"))
label := widget.NewLabel("")
scale.OnChange(func(v int) { label.SetValue(fmt.Sprintf("scale %d", 2*v)) })
display.Show(widget.NewVBox(scale, label))
a, last := tensor.Ones(256, 256), 0
fmt.Println("training")
for scale.Value() < 300 {
	a.MatMul(a)
	last = scale.Value()
}
last >= 0 && scale.Value() == 300`
	models := map[string]string{} // comm ids by model
	var took []time.Duration
	dragged := make(chan bool)
	drag := func() {
		defer close(dragged)
		for i := 1; i <= 300; i++ {
			start := time.Now()
			c, err := k.SendRequest(client.Request{Channel: "shell", Type: "comm_msg", Subshell: subshell.ID, Content: map[string]any{
				"comm_id": models["IntSliderModel"],
				"data":    map[string]any{"method": "update", "state": map[string]any{"value": i}, "buffer_paths": []string{}},
			}})
			if err != nil {
				t.Error(err)
				return
			}
			var echo any
			answered := time.Duration(-1)
			err = c.Idle(ctx, func(m client.Message) {
				var c commMessage
				if m.Header.Type != "comm_msg" || m.Decode(&c) != nil {
					return
				}
				switch {
				case c.ID == models["IntSliderModel"] && c.Data.Method == "echo_update":
					echo = c.Data.State["value"]
				case c.ID == models["LabelModel"] && c.Data.State["value"] == fmt.Sprint("scale ", 2*i):
					answered = time.Since(start)
				}
			})
			if err != nil || answered < 0 || echo != float64(i) {
				t.Errorf("drag to %d: got echo %v, an answer after %v, error %v; want both", i, echo, answered, err)
				return
			}
			took = append(took, answered)
		}
	}
	var value map[string]any
	reply, err := k.Execute(ctx, train, client.ExecuteOptions{}, func(m client.Message) {
		var c commMessage
		switch m.Header.Type {
		case "comm_open":
			if m.Decode(&c) == nil && c.Target == "jupyter.widget" {
				models[c.Data.State["_model_name"].(string)] = c.ID
			}
		case "stream":
			if strings.Contains(string(m.Content), "training") {
				go drag()
			}
		case "execute_result":
			m.Decode(&value)
		}
	})
	if err != nil || reply.Status != "ok" {
		t.Fatalf("training cell: got %+v, %v; want it to end when the slider is at 300", reply, err)
	}
	<-dragged
	if len(took) != 300 {
		t.Fatalf("got %d answers, want 300", len(took))
	}
	if data, _ := value["data"].(map[string]any); data["text/plain"] != "true" {
		t.Errorf("value of the cell: got %v, want true", value)
	}
	slices.Sort(took)
	t.Logf("%d drags of a slider during training: p50 %v, p99 %v, max %v", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
