package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// FormatClaim is a published claim about a number format, and what a small experiment shows.
type FormatClaim struct {
	What     string
	Source   string
	Claimed  string
	Quantity string // what Seen measures, such as "loss"
	Seen     []Measured
	Verdict  string // "yes" if the experiment agrees with the claim, "no", or "too close to tell"
}

// Measured is a quantity of one variant of an experiment over its seeds.
type Measured struct {
	Name      string
	Mean, Std float64
}

// FormatClaimsReport is the result of [FormatClaims].
type FormatClaimsReport struct {
	Report
	Claims []FormatClaim
}

// claimSeeds is the number of seeds of each experiment.
const claimSeeds = 5

// claims runs the experiments of FormatClaims.
func claims() []FormatClaim {
	list := []FormatClaim{decayClaim(), transformerClaim(), nvfp4Claim(), rotationClaim(), gradientClaim(), spikeClaim(), scaleClaim()}
	return append(append(list, reinforcementClaims()...), muonClaim())
}

// FormatClaims tests published claims about formats of 4 to 16 bits on networks that train in seconds, with five seeds each, and puts what is claimed next to what is
// seen. A claim about large models may fail on small ones, and the report says so. The results are the same on every processor. It leaves the default generator as it was.
func FormatClaims() *FormatClaimsReport {
	state := tensor.DefaultGenerator().State()
	defer tensor.DefaultGenerator().SetState(state)
	r := &FormatClaimsReport{}
	r.Header = []string{"claim", "claimed", "seen here, mean and standard deviation", "agrees", "from"}
	var figures []*chart.Figure
	holds := 0
	for _, c := range claims() {
		r.Claims, figures = append(r.Claims, c), append(figures, c.figure())
		seen := c.Quantity
		for i, m := range c.Seen {
			seen += fmt.Sprintf("%s %s %s", []string{":", ";"}[min(i, 1)], m.Name, m)
		}
		if c.Verdict == "yes" {
			holds++
		}
		r.row(c.What, c.Claimed, seen, c.Verdict, c.Source)
	}
	r.Says = fmt.Sprintf("%d of %d claims about narrow formats hold on small networks, with %d seeds each.", holds, len(r.Claims), claimSeeds)
	r.Figure = chart.Grid(3, figures...)
	return r
}

// String returns the mean and the standard deviation: "0.413 ± 0.02".
func (m Measured) String() string { return fmt.Sprintf("%.3g ± %.1g", m.Mean, m.Std) }

// figure draws what is seen.
func (c FormatClaim) figure() *chart.Figure {
	var names []string
	var means, errors []float64
	for _, m := range c.Seen {
		names, means, errors = append(names, m.Name), append(means, m.Mean), append(errors, m.Std)
	}
	return chart.BarPlot(names, means).ErrorBars(errors).YLabel(c.Quantity).Title(c.What)
}

// over returns the mean and the spread of a quantity over the seeds.
func over(name string, of func() float64) Measured {
	return overAll(func() []float64 { return []float64{of()} }, name)[0]
}

// overAll is over for several quantities of one experiment.
func overAll(of func() []float64, names ...string) []Measured {
	seen := make([]Measured, len(names))
	lists := make([][]float64, len(names))
	for seed := range claimSeeds {
		tensor.ManualSeed(int64(seed))
		for i, v := range of() {
			lists[i] = append(lists[i], v)
			seen[i].Mean += v / claimSeeds
		}
	}
	for i, name := range names {
		seen[i].Name = name
		for _, v := range lists[i] {
			seen[i].Std += (v - seen[i].Mean) * (v - seen[i].Mean) / (claimSeeds - 1)
		}
		seen[i].Std = math.Sqrt(seen[i].Std)
	}
	return seen
}

// below returns the verdict on the claim that a is smaller than b: their distance must be two standard errors.
func below(a, b Measured) string {
	switch apart := 2 * math.Sqrt((a.Std*a.Std+b.Std*b.Std)/claimSeeds); {
	case a.Mean < b.Mean-apart:
		return "yes"
	case a.Mean > b.Mean+apart:
		return "no"
	}
	return "too close to tell"
}

// verdict returns that of a condition.
func verdict(holds bool) string {
	if holds {
		return "yes"
	}
	return "no"
}

// weakest returns the verdict of a claim that needs all of the given ones.
func weakest(verdicts ...string) string {
	rank := map[string]int{"no": 0, "too close to tell": 1, "yes": 2}
	return slices.MinFunc(verdicts, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
}
