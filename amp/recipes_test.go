package amp_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// recipes maps the names in testdata/recipes.py to the recipes: several losses, accumulation,
// clipping, checkpoint, inference and schedule, as in torch's AMP examples. Each returns a row of
// named numbers for each step. TestPenalty checks the recipe of the gradient penalty.
var recipes = map[string]func(t *testing.T) []map[string]float64{
	"a several losses, models and optimizers": severalLosses,
	"b accumulation":                  func(*testing.T) []map[string]float64 { return accumulate(false) },
	"b accumulation, unscaled midway": func(*testing.T) []map[string]float64 { return accumulate(true) },
	"c clipping":                      func(*testing.T) []map[string]float64 { return clip(false) },
	"c clipping scaled gradients":     func(*testing.T) []map[string]float64 { return clip(true) },
	"e checkpoint":                    checkpoint,
	"f inference":                     inference,
	"g schedule":                      func(*testing.T) []map[string]float64 { return schedule(true) },
	"g schedule that runs ahead":      func(*testing.T) []map[string]float64 { return schedule(false) },
}

// exact lists the numbers that must equal PyTorch's. All others must agree to 1e-3.
var exact = map[string]bool{"scale": true, "skipped": true, "tracker": true, "lr": true, "bad": true, "half": true, "graph": true}

func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("testdata/recipes.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Recipes map[string][]map[string]float64
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Recipes) != len(recipes) {
		t.Errorf("got %d recipes in the file, want %d", len(file.Recipes), len(recipes))
	}
	for name, rows := range file.Recipes {
		t.Run(name, func(t *testing.T) {
			tensor.ManualSeed(1)
			got := recipes[name](t)
			if len(got) != len(rows) {
				t.Fatalf("got %d rows, want %d", len(got), len(rows))
			}
			for k, row := range rows {
				for key, want := range row {
					x, ok := got[k][key]
					if !ok || !(math.Abs(x-want) <= 1e-3*math.Abs(want)) || exact[key] && x != want {
						t.Errorf("step %d: %s: got %v, want %v", k, key, x, want)
					}
				}
			}
		})
	}
}

func recipeNet() *nn.Sequential {
	hidden := linear(8, 6)
	return nn.NewSequential(hidden, nn.NewReLU(), linear(3, 8))
}

func recipeBatches(n int) (list []batch) {
	for range n {
		x := tensor.Randn(12, 6)
		list = append(list, batch{x, tensor.Randn(12, 3)})
	}
	return list
}

func recipeScaler() *amp.GradScaler {
	return amp.NewGradScaler(amp.InitScale(128), amp.GrowthInterval(2))
}

// weightSize returns the sum of the magnitudes of the parameters.
func weightSize(net any) (total float64) {
	for _, p := range nn.Parameters(net) {
		total += p.Detach().Double().Abs().Sum().Item()
	}
	return total
}

func halfMSE(net nn.Module, b batch) (loss *tensor.Tensor) {
	amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(b.input), b.target) })
	return loss
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

func severalLosses(t *testing.T) (rows []map[string]float64) {
	n0, n1 := recipeNet(), recipeNet()
	data, s := recipeBatches(8), recipeScaler()
	o0, o1 := optim.NewSGD(nn.Parameters(n0), 0.1), optim.NewAdamW(nn.Parameters(n1), 0.01)
	for k, b := range data {
		o0.ZeroGrad()
		o1.ZeroGrad()
		var loss0, loss1 *tensor.Tensor
		amp.Autocast(amp.Float16, func() {
			y0, y1 := n0.Forward(b.input).Float(), n1.Forward(b.input).Float()
			loss0 = nn.MSELoss(y0.MulScalar(2).Add(y1.MulScalar(3)), b.target)
			loss1 = nn.MSELoss(y0.MulScalar(3).Sub(y1.MulScalar(5)), b.target)
		})
		s.Scale(loss0).BackwardWith(tensor.BackwardOptions{RetainGraph: true})
		s.Scale(loss1).Backward()
		if k == 2 {
			poison(n1)
		}
		scale := s.CurrentScale()
		s.Unscale(o0)
		norm := nn.ClipGradNorm(nn.Parameters(n0), 1)
		r0, r1 := s.Step(o0), s.Step(o1)
		s.Update()
		rows = append(rows, map[string]float64{
			"loss0": loss0.Item(), "loss1": loss1.Item(), "norm": norm, "scale": scale,
			"skipped": flag(r0.Skipped) + 2*flag(r1.Skipped), "size0": weightSize(n0), "size1": weightSize(n1),
		})
	}
	return rows
}

func accumulate(unscaleMidway bool) (rows []map[string]float64) {
	net := recipeNet()
	data, s := recipeBatches(16), recipeScaler()
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	for k, b := range data {
		loss := halfMSE(net, b).MulScalar(1. / 4)
		s.Scale(loss).Backward()
		if unscaleMidway && k%4 == 1 {
			s.Unscale(opt)
		}
		if k%4 < 3 {
			continue
		}
		scale := s.CurrentScale()
		s.Step(opt)
		norm := nn.TotalNorm(nn.Parameters(net), 2)
		s.Update()
		rows = append(rows, map[string]float64{"loss": loss.Item(), "scale": scale, "norm": norm, "size": weightSize(net)})
		opt.ZeroGrad()
		if unscaleMidway {
			break
		}
	}
	return rows
}

func clip(scaled bool) (rows []map[string]float64) {
	net := recipeNet()
	data, s := recipeBatches(8), recipeScaler()
	params := nn.Parameters(net)
	opt := optim.NewSGD(params, 0.1)
	for k, b := range data {
		opt.ZeroGrad()
		loss := halfMSE(net, b)
		s.Scale(loss).Backward()
		if k == 2 {
			poison(net)
		}
		scale, limit := s.CurrentScale(), 0.1
		if scaled {
			limit *= scale
		} else {
			s.Unscale(opt)
		}
		norm := nn.ClipGradNorm(params, limit)
		r := s.Step(opt)
		s.Update()
		bad := 0
		for _, p := range params {
			x := p.Grad().Stats()
			bad += x.NaNs + x.Infs
		}
		rows = append(rows, map[string]float64{"loss": loss.Item(), "scale": scale, "skipped": flag(r.Skipped), "size": weightSize(net), "bad": float64(bad), "norm": norm})
	}
	return rows
}

func checkpoint(t *testing.T) (rows []map[string]float64) {
	net := recipeNet()
	data, s := recipeBatches(8), recipeScaler()
	opt := optim.NewAdamW(nn.Parameters(net), 0.01)
	for k, b := range data {
		if k == 4 {
			model, state, had := nn.StateDict(net), opt.StateDict(), s.StateDict()
			net, s = recipeNet(), amp.NewGradScaler()
			opt = optim.NewAdamW(nn.Parameters(net), 1)
			if err := nn.LoadStateDict(net, model); err != nil {
				t.Fatal(err)
			}
			if err := opt.LoadStateDict(state); err != nil {
				t.Fatal(err)
			}
			s.LoadStateDict(had)
		}
		opt.ZeroGrad()
		loss := halfMSE(net, b)
		s.Scale(loss).Backward()
		scale := s.CurrentScale()
		s.Step(opt)
		s.Update()
		rows = append(rows, map[string]float64{"loss": loss.Item(), "scale": scale, "tracker": float64(s.GrowthTracker()), "size": weightSize(net)})
	}
	return rows
}

func inference(*testing.T) (rows []map[string]float64) {
	net := recipeNet()
	for _, b := range recipeBatches(2) {
		var y *tensor.Tensor
		tensor.NoGrad(func() { amp.Autocast(amp.Float16, func() { y = net.Forward(b.input) }) })
		rows = append(rows, map[string]float64{
			"half": flag(y.DType() == tensor.Float16), "graph": flag(y.RequiresGrad()), "first": y.At(0, 0), "total": y.Double().Abs().Sum().Item(),
		})
	}
	return rows
}

func schedule(guarded bool) (rows []map[string]float64) {
	net := recipeNet()
	data, s := recipeBatches(8), amp.NewGradScaler(amp.GrowthInterval(2))
	opt := optim.NewSGD(nn.Parameters(net), 0.5)
	rates := optim.NewExponentialLR(opt, 0.5)
	if guarded {
		rates.FollowSkips()
	}
	for k, b := range data {
		opt.ZeroGrad()
		loss := halfMSE(net, b)
		s.Scale(loss).Backward()
		if k == 0 || k == 3 || k == 4 {
			poison(net)
		}
		lr, scale := opt.LR(), s.CurrentScale()
		r := s.Step(opt)
		s.Update()
		rates.Step()
		rows = append(rows, map[string]float64{"loss": loss.Item(), "scale": scale, "skipped": flag(r.Skipped), "lr": lr})
	}
	return rows
}
