package nn

import "testing"

type switched struct {
	TrainingMode
	inner *switched
}

func TestTrainAndEval(t *testing.T) {
	m := &switched{inner: &switched{}}
	model := []any{m, struct{ hidden *switched }{m.inner}}
	for _, c := range []struct {
		set  func(any)
		want bool
	}{{Eval, false}, {Train, true}} {
		c.set(model)
		if m.Training() != c.want || m.inner.Training() != c.want {
			t.Errorf("Training: got %v and, for the inner module, %v; want %v", m.Training(), m.inner.Training(), c.want)
		}
	}
}

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{
		"RunningMean": "running_mean", "FC1": "fc1", "WeightIH0": "weight_ih0", "in": "in", "XX": "xx", "byName": "by_name", "LayerNorm": "layer_norm", "Weight_ih": "weight_ih", "HTTPServer": "http_server",
	} {
		if got := snake(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
