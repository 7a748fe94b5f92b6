package display_test

import (
	"fmt"

	"halfnote/display"
)

func ExampleTable() {
	fmt.Println(display.Table([]string{"run", "steps", "loss"}, [][]any{
		{"float32", 1000, 0.25},
		{"float16, scaled", 998, 0.2503},
	}))
	// Output:
	// run              steps    loss
	// float32           1000    0.25
	// float16, scaled    998  0.2503
}

// temperature is displayed by its method HTML.
type temperature float64

func (t temperature) String() string { return fmt.Sprintf("%.1f °C", float64(t)) }

func (t temperature) HTML() string { return "<b>" + t.String() + "</b>" }

func ExampleOf() {
	b := display.Of(temperature(21.5))
	fmt.Println(b.Data["text/html"])
	fmt.Println(b)
	// Output:
	// <b>21.5 °C</b>
	// 21.5 °C
}

// A program outside a notebook prints the text of what it shows.
func ExampleShow() {
	display.Show(display.Markdown("**done**"), map[string]int{"steps": 3}, 1.5)
	// Output:
	// **done**
	// map[steps:3]
	// 1.5
}

func ExampleJSON() {
	fmt.Println(display.JSON(map[string]any{"dtype": "float16", "shape": []int{2, 3}}))
	// Output:
	// {
	//   "dtype": "float16",
	//   "shape": [
	//     2,
	//     3
	//   ]
	// }
}
