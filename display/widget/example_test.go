package widget_test

import (
	"fmt"

	"halfnote/display/widget"
)

// A cell that ends with the box shows the slider with the label below it. Moving the slider
// calls the function, in the notebook and here.
func ExampleNewIntSlider() {
	steps := widget.NewIntSlider(100, 0, 1000, widget.Description("steps"), widget.Step(100))
	label := widget.NewLabel("")
	steps.OnChange(func(n int) { label.SetValue(fmt.Sprint(n, " steps")) })
	widget.NewVBox(steps, label)
	steps.SetValue(300)
	fmt.Println(label.Value())
	// Output:
	// 300 steps
}

// Interact calls the function once, and again after every change of a control.
func ExampleInteract() {
	rate := widget.NewFloatLogSlider(0.01, -4, 0)
	dtype := widget.NewDropdown("float16", []string{"float16", "bfloat16", "float32"})
	widget.Interact(func() { fmt.Println("train in", dtype.Value(), "at", rate.Value()) }, rate, dtype)
	dtype.SetValue("bfloat16")
	// Output:
	// train in float16 at 0.01
	// train in bfloat16 at 0.01
}

func ExampleNewToggleButtons() {
	loop := widget.NewToggleButtons("float32", []string{"float32", "autocast", "autocast + scaler"})
	loop.SetValue("autocast")
	fmt.Println(loop.Value(), loop.Index())
	// Output:
	// autocast 1
}
