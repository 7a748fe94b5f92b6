package interp

import (
	"regexp"
	"strings"
	"testing"
)

// TestDashboard checks that a dashboard changes while a cell trains, and that its last state is shown
// when the cell ends, also by an error or an interrupt, and with two dashboards and a bar.
func TestDashboard(t *testing.T) {
	s := newSession(t)
	const setup = `net := nn.NewLinear(4, 1)
sgd, scaler := optim.NewSGD(nn.Parameters(net), 0.01), amp.NewGradScaler()
x, y := tensor.Ones(8, 4), tensor.Ones(8, 1)
step := func() {
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
	sgd.ZeroGrad()
	scaler.Scale(loss).Backward()
	scaler.Step(sgd)
	scaler.Update()
}`
	if got := evalFor(t, s, 1, setup, ""); got != "" {
		t.Fatal(got)
	}
	const (
		empty = `display No step recorded yet\n`
		frame = `(update \d+ steps?: [^\n]*\n)*`
		last  = `update \d+ steps?: loss [^\n]*, loss scale 2[¹²][^\n]*steps/s[^\n]*\n\nname +points[^=]*?not finite\nloss [^=]*?`
	)
	for i, tt := range []struct{ code, after, want string }{
		{"rec := trace.Start(trace.Live())\nfor range 3 { step() }\nrec.Stop()", "", empty + frame + last},
		{"rec := trace.Start(trace.Live())\nfor range 3 { step() }", "", empty + frame + last},
		{"rec.Stop()", "", ""}, // shown in the output of the cell before
		{"rec := trace.Start(trace.Live())\ndefer rec.Stop()\nfor range 3 { step() }\npanic(1)", "", empty + frame + last + `Panic\npanic: 1\n[^=]*`},
		{"rec := trace.Start(trace.Live())\ndefer rec.Stop()\nfor { step() }", "700ms", empty + frame + last + `Interrupted\n.*`},
		{"one, two := trace.Start(trace.Live()), trace.Start(trace.Live(), trace.Models(net))\nfor range display.Track(3, \"steps\") { step() }\none.Stop()\ntwo.Stop()", "",
			empty + empty + `display steps [^\n]*\n` + frame + `(update steps [^\n]*\n)*` + frame + last + last},
		{"rec := trace.Start(trace.Live())\nfor i := range 3 { step(); rec.Log(\"accuracy\", float64(i)/4) }\nrec.Stop()\nfmt.Println(strings.Contains(rec.Dashboard().String(), \"accuracy 0.5\"))", "",
			empty + frame + last + "true\n"},
	} {
		got := evalFor(t, s, i+2, tt.code, tt.after)
		if want := regexp.MustCompile("(?s)^" + tt.want + "$"); !want.MatchString(got) {
			t.Errorf("%s:\ngot\n%s\nwant\n%v", tt.code, got, want)
		}
		if tt.after != "" && strings.Count(got, "update ") < 2 {
			t.Errorf("got %d updates in %s", strings.Count(got, "update "), tt.after)
		}
	}
}
