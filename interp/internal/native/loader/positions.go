//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"encoding/binary"
	"slices"
	"strings"

	"halfnote/interp/internal/native/object"
)

// Positions tells the lines of a function as the compiler wrote them, where the runtime shows others.
type Positions struct {
	runs    []run
	quantum uint32
}

// At returns the line of an instruction, by its distance from the beginning of the function; 0 means that it has none.
func (p Positions) At(distance uintptr) int {
	for _, r := range p.runs {
		if uint32(distance)/p.quantum < r.end {
			return int(r.value)
		}
	}
	return 0
}

// Positions returns the lines in a source file of the unit's functions, by the functions' addresses.
func (m *Module) Positions(file string) map[uintptr]Positions {
	all, own := map[uintptr]Positions{}, int32(slices.Index(sourceFiles(m.u.o), file))
	for _, s := range m.u.text {
		files, _ := s.AuxOf(object.AuxPCFile)
		lines, _ := s.AuxOf(object.AuxPCLine)
		p := Positions{quantum: uint32(m.u.arch.quantum)}
		m.u.eachLine(files, lines, func(of, line int32, end uint32) {
			if of != own {
				line = 0
			}
			p.runs = append(p.runs, run{line, end})
		})
		all[m.u.addr[s]] = p
	}
	return all
}

// eachLine calls f for the parts of a function whose instructions have one line, with the index of its file.
func (u *unit) eachLine(files, lines object.Ref, f func(file, line int32, end uint32)) {
	if u.o.Def(files) == nil || u.o.Def(lines) == nil {
		return
	}
	of, from := runs(u.o.Def(files).Data), uint32(0)
	for _, r := range runs(u.o.Def(lines).Data) {
		for from < r.end && len(of) > 0 {
			end := min(r.end, of[0].end)
			f(of[0].value, r.value, end)
			if from = end; end == of[0].end {
				of = of[1:]
			}
		}
	}
}

// run is a part of a function whose instructions have the same value in a table.
type run struct {
	value int32
	end   uint32 // distance from the beginning of the function, in quanta
}

// runs returns the content of a table from addresses to values, in the form that runtime.step reads.
func runs(table []byte) (list []run) {
	at := run{value: -1}
	for len(table) > 0 {
		delta, n := binary.Uvarint(table)
		if n <= 0 || delta == 0 && len(list) > 0 {
			break
		}
		size, k := binary.Uvarint(table[n:])
		if k <= 0 {
			break
		}
		table = table[n+k:]
		at.value += int32(delta>>1) ^ -int32(delta&1)
		at.end += uint32(size)
		list = append(list, at)
	}
	return list
}

// tableOf is the inverse of runs.
func tableOf(list []run) (table []byte) {
	last := run{value: -1}
	for i, r := range list {
		if i+1 < len(list) && list[i+1].value == r.value {
			continue
		}
		delta := r.value - last.value
		table = binary.AppendUvarint(table, uint64(uint32(delta<<1^delta>>31)))
		table = binary.AppendUvarint(table, uint64(r.end-last.end))
		last = r
	}
	return append(table, 0)
}

// shownLines returns the offsets of the tables of the files and of the lines of a function that the runtime shows. What stands for no line
// has that of the instructions before it, or else of those after it.
func (t *tables) shownLines(files, lines object.Ref) (pcfile, pcln uint32) {
	if t.u.line == nil {
		return t.pc(files), t.pc(lines)
	}
	var places, numbers []run
	last, unknown := [2]int32{-1}, 0
	t.u.eachLine(files, lines, func(file, line int32, end uint32) {
		name, shown := t.u.line(t.files[file], int(line))
		if name != "" {
			last = [2]int32{t.file(name), int32(shown)}
		}
		places, numbers = append(places, run{last[0], end}), append(numbers, run{last[1], end})
		if last[0] < 0 {
			places[unknown].value, numbers[unknown].value = file, line
			unknown++
			return
		}
		for i := range unknown {
			places[i].value, numbers[i].value = last[0], last[1]
		}
		unknown = 0
	})
	return t.add(tableOf(places)), t.add(tableOf(numbers))
}

// add adds a table from addresses to values.
func (t *tables) add(table []byte) uint32 {
	off := t.firstPC + uint32(len(t.pcs))
	t.pcs = append(t.pcs, table...)
	return off
}

// file returns the index of a source file of the unit.
func (t *tables) file(name string) int32 {
	i := slices.Index(t.files, name)
	if i < 0 {
		i = len(t.files)
		t.files = append(t.files, name)
	}
	return int32(i)
}

// sourceFiles returns the names of the source files of an object.
func sourceFiles(o *object.Object) []string {
	var list []string
	for _, f := range o.Files {
		list = append(list, strings.TrimPrefix(f, "gofile.."))
	}
	return list
}
