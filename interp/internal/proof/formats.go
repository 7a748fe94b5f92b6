package proof

import "strings"

// verbs lists what prints a value $X.
var verbs = []struct{ name, text string }{
	{"%v", `fmt.Printf("%v\n", $X)`}, {"%+v", `fmt.Printf("%+v\n", $X)`}, {"%#v", `fmt.Printf("%#v\n", $X)`}, {"%T", `fmt.Printf("%T\n", $X)`}, {"%d", `fmt.Printf("%d\n", $X)`}, {"%s", `fmt.Printf("%s\n", $X)`},
	{"%q", `fmt.Printf("%q\n", $X)`}, {"%x", `fmt.Printf("%x\n", $X)`}, {"%6.2f", `fmt.Printf("%6.2f|\n", $X)`}, {"%t", `fmt.Printf("%t\n", $X)`}, {"Println", `fmt.Println($X, $X)`}, {"Sprint", `show(fmt.Sprint("a", $X, $X, "b"))`},
}

// containers lists what holds a value of a kind.
var containers = []struct{ name, text string }{
	{"itself", "$B"}, {"slice", "[]$T{$A, $B}"}, {"array", "[2]$T{$A, $B}"}, {"map", `map[string]$T{"k": $B}`}, {"struct", "struct { N int; V $T }{1, $B}"}, {"named struct", "w_$K{1, $B}"}, {"box", "box[$T]{$B}"},
	{"any", "any($B)"}, {"anys", "[]any{1, $B, nil}"}, {"struct of any", "struct { V any }{$B}"}, {"pointer", "&w_$K{1, $B}"}, {"box of a slice", "box[[]$T]{[]$T{$B}}"}, {"nested", `map[string][]w_$K{"k": {{1, $B}}}`}, {"zero", "*new($T)"},
}

// addresses lists kinds whose values print as addresses.
var addresses = "func slicefn slicech arrayfn mapfn clock func0 func2 funcvar funcany handler funcfunc bound methodex mapper seq funcpt handlerfn chan chanrecv chansend chanpt chanempty chanchan chanfn pipe ptr ptrptr ptrany ptrpt ptrslice ptrarray ptrun ptrbox ptrmap builder slicepp outerp list bigint anyfn reader mover sizer unnamedif stringer getter failure error errs holder mixed"

// formatCells crosses kinds, verbs and containers. Values that print addresses are left out, but for their types.
func formatCells() (cells []Cell) {
	for i, k := range kinds {
		for j, v := range verbs {
			for l, c := range containers {
				address := strings.Contains(" "+addresses+" ", " "+k.name+" ")
				if v.name != "%T" && (address || c.name == "pointer" && v.name != "%v" && v.name != "%+v" || (i+j*5+l*3)%6 != 0) || v.name == "%T" && (i+l)%2 != 0 {
					continue
				}
				body := k.fill("x := " + c.text + "\n" + strings.ReplaceAll(v.text, "$X", "x"))
				cells = append(cells, Cell{[]string{k.name, v.name, c.name}, []string{k.name}, "", "", body})
			}
		}
	}
	return cells
}
