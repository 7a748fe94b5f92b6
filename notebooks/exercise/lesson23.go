package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson23 = lesson{
	number: "23", title: "The same bits?",
	predictions: []prediction{{id: "23", question: "How many different sums do 1000 orders give?", guess: size(0.5)}},
	exercises: []exercise{
		{
			id: "23.1", kind: warmUp, task: "what (10⁸ + 1) - 10⁸ is in float32",
			accept: exact(0),
			why:    "Near 10⁸ the numbers of float32 are 8 apart, so that 10⁸ + 1 is rounded to 10⁸.",
			hints:  []string{"How far apart are the numbers of float32 near 10⁸?", "`a.Add(b).Sub(a)` computes it, with two tensors."},
			mistakes: []mistake{
				{exact(1), "That is (10⁸ - 10⁸) + 1, in the other order."},
				{exact(8), "The numbers there are 8 apart, and 1 is less than half of that."},
			},
		},
		{
			id: "23.2", kind: change, task: "a formula for the most additions that a number goes through if n numbers are added in blocks of b",
			accept: formula("b+n/b-2", "n", "b"),
			why:    "The first number of a block goes through the b - 1 additions of its block; the first block's sum through the n/b - 1 additions of the sums. Plain order has n - 1: blocks change the order, and usually make the error smaller.",
			hints:  []string{"A block of b numbers takes b - 1 additions.", "There are n/b sums of blocks. How many additions do they take?"},
			mistakes: []mistake{
				{formula("n-1", "n", "b"), "That is the number of additions without blocks, and of all additions with them. The numbers of the last block go through fewer."},
				{formula("b+n/b", "n", "b"), "Adding b numbers takes b - 1 additions."},
				{formula("b+n/b-1", "n", "b"), "Adding b numbers takes b - 1 additions; adding n/b sums one fewer than n/b too."},
			},
		},
		{
			id: "23.3", kind: design, task: "a function that returns the sum of the elements of a tensor, the same bits for each order of them",
			accept: function(sumsInAnyOrder),
			why:    "A sum of sorted numbers has one order, whatever order they came in. Exact sums in integers are another way, which some libraries take.",
			hints:  []string{"Bring the elements into one order first.", "`x.Sort(0)` returns the sorted values, and the order that they had."},
			mistakes: []mistake{
				{sumGives(func(x *tensor.Tensor) float64 { return x.Sum().Item() }), "Its bits depend on the order of the elements."},
				{sumGives(func(x *tensor.Tensor) float64 { return x.Double().Sum().Item() }), "In float64 other orders have other bits too: the numbers are only more exact."},
				{sumGives(func(x *tensor.Tensor) float64 { return x.Float().Double().Sum().Float().Item() }), "Rounding a sum in float64 hides most differences. Numbers of very different sizes still show them."},
			},
		},
	},
}

// sumOrders are the same numbers in several orders: of similar sizes, and of very different ones.
func sumOrders() (list [][]*tensor.Tensor) {
	const n = 300
	x := tensor.NewGenerator(1).Randn(n).Float64s()
	var similar []*tensor.Tensor
	for first := range 20 {
		order := make([]float64, n)
		for i := range order {
			order[i] = x[(first+7*i)%n] // 7 and n have no common factor
		}
		similar = append(similar, tensor.New(order))
	}
	wide := []float64{1e30, 1, -1e30}
	return append(list, similar, []*tensor.Tensor{tensor.New(wide), tensor.New([]float64{wide[0], wide[2], wide[1]})})
}

// sumsInAnyOrder reports what is wrong with a function that sums the elements of a tensor.
func sumsInAnyOrder(f func(x *tensor.Tensor) *tensor.Tensor) error {
	for k, orders := range sumOrders() {
		var first float64
		for i, x := range orders {
			y := f(x)
			if y == nil || y.Numel() != 1 {
				return fmt.Errorf("want a tensor with one element")
			}
			got := y.Item()
			if i == 0 {
				first = got
			}
			if math.Float64bits(got) != math.Float64bits(first) {
				return fmt.Errorf("for one order of %d numbers it returns %.9g, and for another %.9g", x.Numel(), first, got)
			}
			if want := x.Double().Sum().Item(); k == 0 && !(math.Abs(got-want) <= 1e-3) {
				return fmt.Errorf("the sum of %d numbers is %.6g, and it returns %.6g", x.Numel(), want, got)
			}
		}
	}
	return nil
}

// sumGives accepts functions that return want(x) for each order, for a mistake.
func sumGives(want func(x *tensor.Tensor) float64) answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		for _, orders := range sumOrders() {
			for _, x := range orders {
				if y := f(x); y == nil || y.Numel() != 1 || y.Item() != want(x) {
					return errWrong
				}
			}
		}
		return nil
	})
}
