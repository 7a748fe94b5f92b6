package apex

import (
	"fmt"

	"halfnote/display"
)

// propertyNames are Apex's properties in its order.
var propertyNames = []string{"cast_model_type", "patch_torch_functions", "keep_batchnorm_fp32", "master_weights", "loss_scale"}

// LevelTable compares levels. As a cell's value it is shown as a table.
type LevelTable struct{ Levels []OptLevel }

// OptLevels returns a table of levels with their properties: O0 to O3, or those given. It is
// the table of Apex's documentation.
func OptLevels(levels ...OptLevel) LevelTable {
	if len(levels) == 0 {
		levels = []OptLevel{O0, O1, O2, O3}
	}
	return LevelTable{levels}
}

func (t LevelTable) table() display.Bundle {
	head, purpose := []string{"property"}, []any{"what it is"}
	for _, l := range t.Levels {
		head, purpose = append(head, l.name), append(purpose, about[l.name])
	}
	rows := [][]any{purpose}
	for _, name := range propertyNames {
		row := []any{name}
		for _, l := range t.Levels {
			row = append(row, l.Properties()[name])
		}
		rows = append(rows, row)
	}
	return display.Table(head, rows)
}

// String returns the table.
func (t LevelTable) String() string { return t.table().String() }

// HTML returns the table.
func (t LevelTable) HTML() string { return fmt.Sprint(t.table().Data["text/html"]) }
