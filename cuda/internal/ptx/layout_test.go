package ptx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/cuda/kernels"
)

// layout maps a thread and one of its values to a position. It is the sum of strides times the
// digits of each number, in the mixed base of its sizes.
type layout [2]struct{ size, stride []int }

var numbers = regexp.MustCompile(`\d+`)

// layoutOf reads CuTe's notation with one level of nesting, such as ((4,8),2):((16,1),8).
func layoutOf(t *testing.T, text string) (l layout) {
	shape, stride, _ := strings.Cut(text, ":")
	for which, s := range []string{shape, stride} {
		s = s[1 : len(s)-1]
		end := strings.Index(s, ",")
		if s[0] == '(' {
			end = strings.Index(s, ")") + 1
		}
		for mode, part := range []string{s[:end], s[end+1:]} {
			for _, n := range numbers.FindAllString(part, -1) {
				x, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				if which == 0 {
					l[mode].size = append(l[mode].size, x)
				} else {
					l[mode].stride = append(l[mode].stride, x)
				}
			}
		}
	}
	if l.threads() != 32 || len(l[0].size) != len(l[0].stride) || len(l[1].size) != len(l[1].stride) {
		t.Fatalf("layout %s: want 32 threads, and a stride for each size", text)
	}
	return l
}

func (l layout) threads() int { return product(l[0].size) }
func (l layout) values() int  { return product(l[1].size) }

func product(list []int) int {
	n := 1
	for _, x := range list {
		n *= x
	}
	return n
}

func (l layout) at(thread, value int) (position int) {
	for mode, i := range []int{thread, value} {
		for axis, size := range l[mode].size {
			position += i % size * l[mode].stride[axis]
			i /= size
		}
	}
	return position
}

// readLayouts returns the layouts of each instruction by the letter of the operand.
func readLayouts(t *testing.T) map[string]map[string]layout {
	text, err := os.ReadFile("testdata/layouts.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]layout{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		all[words[0]] = map[string]layout{}
		for i := 1; i+1 < len(words); i += 2 {
			all[words[0]][words[i]] = layoutOf(t, words[i+1])
		}
	}
	return all
}

// fragmentKernel returns a module whose kernel k reads each thread's registers of the operands,
// executes an instruction, and writes the registers of the result.
func fragmentKernel(instruction string, result int, operands ...int) string {
	var s strings.Builder
	s.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n" +
		".reg .b64 %q<4>;\n.reg .b32 %i<2>;\n.reg .b32 %a<9>;\n.reg .b32 %b<9>;\n.reg .b32 %c<9>;\n.reg .b32 %d<9>;\nmov.u32 %i0, %tid.x;\n")
	address := func(param, registers int) {
		fmt.Fprintf(&s, "ld.param.u64 %%q0, [p%d];\nmul.wide.u32 %%q1, %%i0, %d;\nadd.s64 %%q0, %%q0, %%q1;\n", param, 4*registers)
	}
	for i, n := range operands {
		address(i+1, n)
		for j := range n {
			fmt.Fprintf(&s, "ld.global.b32 %%%c%d, [%%q0+%d];\n", "abc"[i], j, 4*j)
		}
	}
	s.WriteString(instruction + ";\n")
	address(0, result)
	for j := range result {
		fmt.Fprintf(&s, "st.global.b32 [%%q0+%d], %%d%d;\n", 4*j, j)
	}
	s.WriteString("ret;\n}\n")
	return s.String()
}

// registers returns a fragment in PTX.
func registers(letter string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%%%s%d", letter, i))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// TestLayouts compares what instructions compute on fragments, laid out as CUTLASS has them, with
// products of matrices: an instruction is a function of registers, and random numbers tell all
// layouts apart that give another function.
func TestLayouts(t *testing.T) {
	for name, l := range readLayouts(t) {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "mma") {
				testProduct(t, name, l)
			} else {
				testMatrixLoad(t, name, l)
			}
		})
	}
}

func testProduct(t *testing.T, name string, l map[string]layout) {
	var m, n, k int
	words := strings.Split(name, ".")
	if _, err := fmt.Sscanf(words[3], "m%dn%dk%d", &m, &n, &k); err != nil {
		t.Fatal(err)
	}
	types := words[6:] // of D, A, B and C
	r, d := rand.New(rand.NewPCG(1, uint64(m*n*k))), &device{t: t}
	matrices := map[string][]float64{"A": make([]float64, m*k), "B": make([]float64, n*k), "C": make([]float64, m*n)}
	var at []uint64
	var count []int
	for i, letter := range []string{"A", "B", "C"} {
		x, bits := matrices[letter], 32
		for j := range x {
			x[j] = float64(r.IntN(15) - 7) // products of 16 are exact in float16
		}
		encode := func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
		switch types[1+i] {
		case "f16":
			encode, bits = toF16, 16
		case "bf16":
			encode, bits = toBF16, 16
		}
		of := l[letter]
		words := make([]uint32, 32*of.values()*bits/32)
		for thread := range 32 {
			for v := range of.values() {
				slot := thread*of.values() + v
				words[slot*bits/32] |= uint32(encode(x[of.at(thread, v)])) << (slot * bits % 32)
			}
		}
		p, _ := array(d, words)
		at, count = append(at, p), append(count, len(words)/32)
	}
	of, bits := l["C"], 32
	if types[0] == "f16" {
		bits = 16
	}
	results := of.values() * bits / 32
	out, got := array(d, make([]uint32, 32*results))
	module, err := Parse(fragmentKernel(fmt.Sprintf("%s %s, %s, %s, %s", name, registers("d", results), registers("a", count[0]), registers("b", count[1]), registers("c", count[2])), results, count...))
	if err != nil {
		t.Fatal(err)
	}
	defer module.Release()
	d.must(kernel(t, module, "k"), line(1), line(32), 0, out, at[0], at[1], at[2])
	for thread := range 32 {
		for v := range of.values() {
			slot, place := thread*of.values()+v, of.at(thread, v)
			row, column := place%m, place/m
			want := matrices["C"][place]
			for i := range k {
				want += matrices["A"][row+m*i] * matrices["B"][column+n*i]
			}
			raw := got[slot*bits/32] >> (slot * bits % 32)
			value := float64(math.Float32frombits(raw))
			if bits == 16 {
				value = fromF16(uint64(raw & 0xFFFF))
			}
			if value != want {
				t.Fatalf("thread %d, value %d: got %v at row %d, column %d; want %v", thread, v, value, row, column, want)
			}
		}
	}
}

func testMatrixLoad(t *testing.T, name string, l map[string]layout) {
	from, to := l["S"], l["D"]
	r, d := rand.New(rand.NewPCG(2, uint64(len(name)))), &device{t: t}
	rows, order, offsets := make([]uint32, 32*4), r.Perm(32), make([]uint32, 32)
	for i := range rows {
		rows[i] = r.Uint32()
	}
	for thread, row := range order {
		offsets[thread] = uint32(16 * row)
	}
	data, _ := array(d, rows)
	addresses, _ := array(d, offsets)
	results := to.values() / 32
	out, got := array(d, make([]uint32, 32*results))
	unused, _ := d.alloc(4)
	text := fragmentKernel(fmt.Sprintf("st.shared.v4.b32 [%%c0], {%%a0, %%a1, %%a2, %%a3};\nbar.sync 0;\nadd.u32 %%c1, %%c1, %%b0;\n%s %s, [%%c1]", name, registers("d", results)), results, 4, 1)
	// The rows are stored in the order of the threads; each thread passes the address of another's.
	text = strings.Replace(text, "mov.u32 %i0, %tid.x;", ".shared .align 16 .b8 room[512];\nmov.u32 %i0, %tid.x;\nmov.u32 %c1, room;\nmad.lo.u32 %c0, %i0, 16, %c1;", 1)
	module, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	defer module.Release()
	d.must(kernel(t, module, "k"), line(1), line(32), 0, out, data, addresses, unused)
	want := map[int]uint32{} // bits by position
	for thread := 31; thread >= 0; thread-- {
		for v := range from.values() {
			want[from.at(thread, v)] = rows[order[thread]*4+v/32] >> (v % 32) & 1
		}
	}
	for thread := range 32 {
		for v := range to.values() {
			if bit := got[thread*results+v/32] >> (v % 32) & 1; bit != want[to.at(thread, v)] {
				t.Fatalf("thread %d, bit %d: got %d, want that of position %d, %d", thread, v, bit, to.at(thread, v), want[to.at(thread, v)])
			}
		}
	}
}

// TestLayoutsCoverKernels checks that the table has each instruction of our kernels that exchanges
// fragments.
func TestLayoutsCoverKernels(t *testing.T) {
	known := readLayouts(t)
	instruction := regexp.MustCompile(`(?m)^\s*((?:mma|ldmatrix|wmma|wgmma|stmatrix|movmatrix)\.\S+)`)
	var used []string
	for _, module := range kernels.Modules() {
		for _, found := range instruction.FindAllStringSubmatch(kernels.PTX(module), -1) {
			if !slices.Contains(used, found[1]) {
				used = append(used, found[1])
			}
		}
	}
	if len(used) == 0 {
		t.Fatal("no kernel uses tensor cores")
	}
	for _, name := range used {
		if known[name] == nil {
			t.Errorf("testdata/layouts.txt has no line for %s", name)
		}
	}
	t.Logf("the kernels use %q", used)
}
