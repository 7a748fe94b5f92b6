package experiment

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Grid is the settings of a [Sweep]: each combination of the values of its parameters, the last parameter changing fastest.
type Grid []Param

// Param is a parameter and the values that it takes in a [Grid].
type Param struct {
	Name   string
	Values []any
}

// Over returns a parameter that takes the given values: numbers, texts, dtypes, policies or anything else whose texts differ.
func Over(name string, values ...any) Param { return Param{name, values} }

// seedName is the name of the parameter that results are averaged over.
const seedName = "seed"

// mostSeeds limits the memory of a parameter.
const mostSeeds = 1_000_000

// Seeds returns the parameter "seed" with the values 0 to n-1. A [Sweep] runs each setting with each seed and reports the mean and the
// spread over them. It panics if n is more than a million.
func Seeds(n int) Param {
	if n > mostSeeds {
		panic(fmt.Sprintf("experiment: Seeds: got %d seeds; want at most %d", n, mostSeeds))
	}
	p := Param{Name: seedName}
	for i := range n {
		p.Values = append(p.Values, i)
	}
	return p
}

// check panics unless the parameters have names and values that differ.
func (g Grid) check() {
	if len(g) == 0 {
		panic("experiment: Sweep: the grid has no parameter; want one or more of experiment.Over or experiment.Seeds")
	}
	names := map[string]bool{"": true, resultName: true}
	for _, p := range g {
		if names[p.Name] {
			panic(fmt.Sprintf("experiment: Sweep: a parameter has the name %q; want names that differ, and not %q", p.Name, resultName))
		}
		names[p.Name] = true
		if len(p.Values) == 0 {
			panic(fmt.Sprintf("experiment: Sweep: parameter %q has no values; want one or more", p.Name))
		}
		texts := map[string]bool{}
		for _, v := range p.Values {
			if text := fmt.Sprint(v); texts[text] {
				panic(fmt.Sprintf("experiment: Sweep: two values of parameter %q have the text %q; want texts that differ", p.Name, text))
			} else {
				texts[text] = true
			}
		}
	}
}

// points returns all settings.
func (g Grid) points() []Point {
	list := []Point{{grid: g}}
	for _, p := range g {
		var longer []Point
		for _, before := range list {
			for _, v := range p.Values {
				longer = append(longer, Point{grid: g, values: append(slices.Clip(before.values), v)})
			}
		}
		list = longer
	}
	return list
}

// Point is a setting: a value of each parameter of a [Grid].
type Point struct {
	grid     Grid
	values   []any
	recorded *[]recorded
}

// recorded is a further result of a run.
type recorded struct {
	name  string
	value float64
}

// Value returns the value of a parameter. It panics if the grid does not have it.
func (p Point) Value(name string) any {
	for i, q := range p.grid {
		if q.Name == name {
			return p.values[i]
		}
	}
	var names []string
	for _, q := range p.grid {
		names = append(names, q.Name)
	}
	panic(fmt.Sprintf("experiment: the grid has no parameter %q; want one of %q", name, names))
}

// Number returns the value of a parameter that is a number. It panics if it is not one.
func (p Point) Number(name string) float64 {
	switch v := reflect.ValueOf(p.Value(name)); {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	panic(fmt.Sprintf("experiment: parameter %q is a %T; want a number, or Point.Value", name, p.Value(name)))
}

// Int returns the value of a parameter that is a whole number. It panics if it is not one.
func (p Point) Int(name string) int {
	x := p.Number(name)
	if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		panic(fmt.Sprintf("experiment: parameter %q is %v; want a whole number, or Point.Number", name, x))
	}
	return int(x)
}

// Text returns the value of a parameter as a text. It panics if the grid does not have the parameter.
func (p Point) Text(name string) string { return fmt.Sprint(p.Value(name)) }

// Seed returns the seed of the setting, 0 if the grid has no [Seeds].
func (p Point) Seed() int64 {
	if !slices.ContainsFunc(p.grid, func(q Param) bool { return q.Name == seedName }) {
		return 0
	}
	return int64(p.Int(seedName))
}

// Record adds a further result of the run to the table of runs, such as the number of skipped steps.
func (p Point) Record(name string, value float64) {
	if p.recorded == nil {
		return
	}
	for i, r := range *p.recorded {
		if r.name == name {
			(*p.recorded)[i].value = value
			return
		}
	}
	*p.recorded = append(*p.recorded, recorded{name, value})
}

// String returns the names and values of the parameters without the seed.
func (p Point) String() string {
	var parts []string
	for i, q := range p.grid {
		if q.Name != seedName {
			parts = append(parts, q.Name+" "+fmt.Sprint(p.values[i]))
		}
	}
	return strings.Join(parts, ", ")
}
