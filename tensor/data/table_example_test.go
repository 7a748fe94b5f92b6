package data_test

import (
	"fmt"
	"os"
	"path/filepath"

	"halfnote/tensor/data"
)

// A table as a cell shows it, its first rows and its statistics.
func ExampleTable() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "penguins.csv")
	if err := os.WriteFile(path, []byte("# Palmer station\nspecies,mass,male\nAdelie,3750,True\nGentoo,,False\nChinstrap,3500,False\n"), 0o644); err != nil {
		panic(err)
	}
	penguins, err := data.LoadCSV(path, data.CSVOptions{Comment: '#'})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(penguins)
	fmt.Println(penguins.Head(1).Texts("species"), penguins.DTypes())
	fmt.Println(penguins.Describe())
	// Output:
	//    species       mass  male
	//    text       float64  bool
	// 0  Adelie        3750  True
	// 1  Gentoo         NaN  False
	// 2  Chinstrap     3500  False
	// 3 rows × 3 columns; missing: mass 1
	// [Adelie] [text float64 bool]
	//              mass
	//    text   float64
	// 0  count        2
	// 1  mean      3625
	// 2  std    176.777
	// 3  min       3500
	// 4  25%     3562.5
	// 5  50%       3625
	// 6  75%     3687.5
	// 7  max       3750
	// 8 rows × 2 columns
}
