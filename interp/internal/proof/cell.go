package proof

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// A Cell is a function without parameters that prints what it computes.
type Cell struct {
	Axes   []string // coordinates in the family, such as the kind and the storage
	Uses   []string // names of the sections of declarations that the cell needs
	Before string   // variables of the session, declared by an earlier cell
	Decls  string   // declarations in the cell
	Body   string   // statements of the function
}

// Name returns the coordinates of the cell.
func (c Cell) Name() string { return strings.Join(c.Axes, "/") }

// ID returns an identifier that is unique among the cells of all families.
func (c Cell) ID() string { return "c" + short(c.Name()+c.Body+c.Decls+c.Before) }

// Func returns the declarations of the cell in Go: those around the function, and the function.
func (c Cell) Func() string {
	return c.name(c.Decls) + "\nfunc " + c.ID() + "() {\n" + c.name(c.Body) + "\n}\n"
}

// Session returns the declarations of variables of the session that the cell needs, or "".
func (c Cell) Session() string { return c.name(c.Before) }

// name gives the names of the cell that are declared outside functions a unique ending.
func (c Cell) name(text string) string { return strings.ReplaceAll(text, "$N", c.ID()) }

func short(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%010x", h.Sum64()&(1<<40-1))
}

// A Family is a set of cells that cross the same axes.
type Family struct {
	Name  string
	Cells func() []Cell
	// Cover lists pairs of axes. The sample has each pair of values that occurs on these axes.
	Cover [][2]int
}

// Families lists all families.
var Families = []Family{
	{"storages", storageCells, [][2]int{{1, 2}}},
	{"positions", positionCells, [][2]int{{1, 2}}},
	{"operators", operatorCells, [][2]int{{0, 1}}},
	{"operands", operandCells, [][2]int{{1, 1}, {2, 2}}},
	{"order", orderCells, [][2]int{{0, 0}, {1, 1}}},
	{"methods", methodCells, [][2]int{{0, 0}, {1, 1}}},
	{"conversions", conversionCells, [][2]int{{0, 0}, {1, 1}}},
	{"formats", formatCells, [][2]int{{1, 2}, {0, 0}}},
	{"faults", faultCells, [][2]int{{0, 0}, {1, 1}}},
	{"control", controlCells, [][2]int{{0, 1}, {2, 2}}},
}

// Sample returns the cells of the family that cover its pairs, in the order of Cells.
func (f Family) Sample(cells []Cell) []Cell {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	sortBy(order, func(i int) string { return short(cells[i].Name()) })
	seen, taken := map[string]bool{}, make([]bool, len(cells))
	for _, i := range order {
		for _, pair := range f.Cover {
			key := fmt.Sprint(pair, cells[i].Axes[pair[0]], " ", cells[i].Axes[pair[1]])
			if !seen[key] {
				seen[key], taken[i] = true, true
			}
		}
	}
	var sample []Cell
	for i, c := range cells {
		if taken[i] {
			sample = append(sample, c)
		}
	}
	return sample
}
