package data_test

import (
	"fmt"
	"math"
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

// Rows and columns of a table.
func ExampleTable_Filter() {
	penguins := data.NewTable().
		AddTexts("species", []string{"Adelie", "Gentoo", "Adelie", "Gentoo", "Gentoo"}).
		AddNumbers("mass", []float64{3750, 5200, 3800, math.NaN(), 4600})
	fmt.Println(penguins.Filter(func(r data.Row) bool { return r.Number("mass") > 3760 }).Sort("-mass"))
	fmt.Println(penguins.With("kg", func(r data.Row) float64 { return r.Number("mass") / 1000 }).DropMissing().Select("species", "kg").Tail(1))
	// Output:
	//    species   mass
	//    text     int64
	// 0  Gentoo    5200
	// 1  Gentoo    4600
	// 2  Adelie    3800
	// 3 rows × 2 columns
	//    species       kg
	//    text     float64
	// 0  Gentoo       4.6
	// 1 row × 2 columns
}

// Statistics of groups.
func ExampleTable_GroupBy() {
	penguins := data.NewTable().
		AddTexts("species", []string{"Adelie", "Gentoo", "Adelie", "Gentoo", "Gentoo"}).
		AddNumbers("mass", []float64{3750, 5200, 3800, math.NaN(), 4600})
	fmt.Println(penguins.GroupBy("species").Agg("mass", "mean", "std", "count"))
	// Output:
	//    species   mean      std  count
	//    text     int64  float64  int64
	// 0  Adelie    3775  35.3553      2
	// 1  Gentoo    4900  424.264      2
	// 2 rows × 4 columns
}
