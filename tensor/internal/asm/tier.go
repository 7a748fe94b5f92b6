package asm

import (
	"os"
	"unsafe"
)

// Tier is a set of kernels for one kind of processor.
//
// A slot is 32 bits of a packed panel: a float32, or two bfloat16 of one line. Of four
// neighbours along k, the first pair of slots holds the third and the first, and the fourth
// and the second, so that all even slots belong to one sum of a block and all odd ones to the
// other.
type Tier struct {
	// Name is how [Variable] names it.
	Name string
	// Rows and Cols are the size of a tile of C, and of panels of A and B.
	Rows, Cols int
	// F32 are the kernels for panels of float32, by their number of rows, BF16 those
	// for bfloat16, as slots of pairs if Pairs is set, else as float32.
	F32, BF16 []Tile
	Pairs     bool
	// Tiles computes large products of bfloat16, with the bits of BF16; nil: there is none.
	Tiles Tiles
	// Direct are the kernels that read A in place, by rows; nil: there are none.
	Direct []Direct
	// Turned are likewise, for few rows, 16 columns and Store or Continue, and another
	// order of elements: those of a row of A lie side by side, and so do those of a
	// column of B, columns ldb apart.
	Turned []Direct
	// Packs do the packing; nil: none, it is to be done in Go.
	Packs *Packs
	// Loops, Norms and Selects are what else is done fast.
	Loops Loops
	// Functions are passes of elementary functions, for n a multiple of 8.
	Functions []Pass
	// Float16Functions and BFloat16Functions are the same for halves, nil for those that a tier has not got.
	Float16Functions, BFloat16Functions []HalfPass
	// Most returns the largest of n float32, NaN if there is one, for n a multiple of 8.
	Most func(x unsafe.Pointer, n int) float32
	// Dropped is alpha*x where the byte of y is not 0, else 0*x, for n a multiple of 8.
	Dropped Pass
	// Twist is a part of MT19937's recurrence for n words, a multiple of 8, and Below draws
	// n truth values, a multiple of 4: see package tensor.
	Twist   func(words, far unsafe.Pointer, n int)
	Below   func(dst, words unsafe.Pointer, n int, limit uint64)
	Norms   Norms
	Selects Selects
	// Float16 and BFloat16 are the passes over halves.
	Float16, BFloat16 HalfPasses
}

// Tile computes a product of panels of A, [k][Rows] slots, and of B, [k][Cols] slots,
// k being slots, at least 1, for as many rows as its place in [Tier] says, and stores it
// as end says. It prefetches from the address next on, with a step of so many bytes
// after each four slots.
type Tile = func(k int, a, b unsafe.Pointer, end *End, next uintptr, step int)

// End is what a [Tile] does with its sums: C[rows, Cols] = Sums + product + Bias, as C's
// dtype. Sums and Bias are float32, or nil for none. The Ld are the bytes from row to
// row. A product of bfloat16 goes on from Sums, as if k had not been cut there, which must
// be behind a whole block; it needs Room for a tile of float32, aligned to 64 bytes.
type End struct {
	Room   unsafe.Pointer
	C      unsafe.Pointer
	Ldc    int
	As     int // Store, Stream, Float16 or BFloat16
	Sums   unsafe.Pointer
	LdSums int
	Bias   unsafe.Pointer
	LdBias int
}

// How a [Tile] stores C.
const (
	Store  = iota // as float32
	Stream        // likewise, around the cache; C must be aligned to the width of a register
	Float16
	BFloat16
)

// What a [Direct] does with C, beside Store.
const (
	Add      = iota + 1 // C += the product
	Continue            // its sums begin with C instead of 0
)

// TileLines is the number of rows and of columns that [Tiles] computes at a time, and
// TileBlock the elements of k in a block of it.
const (
	TileLines = 32
	TileBlock = 32
)

// Tiles computes products of panels of A, of TileLines rows each, and one panel of B, of as many
// columns.
type Tiles = func(t *Panels)

// Panels is what a [Tiles] computes. A panel of A is K blocks of rows side by side, [K][rows][TileBlock]
// bfloat16, and the next panel lies StepA bytes behind it. A panel of B is [K][TileBlock/2][columns]
// slots of two neighbours along k. What a block lacks must be zeros in both. Rows is how many
// rows of C there are in all, of which the last panel may have fewer. The End is that of the first
// panel, of which the others' lie below; its Sums must have rows for whole panels. Next on, with
// that step from block to block, is prefetched.
type Panels struct {
	K, Rows int
	A, B    unsafe.Pointer
	StepA   int
	End
	Next     uintptr
	NextStep int
}

// Direct computes C[rows, 32] from float32: element (i, p) of A lies at a + i*lda +
// p*ka, row p of B at b + p*ldb. mask has a one for each column that there is. All
// strides are in bytes. mode is Store, Add or Continue.
type Direct = func(k int, a unsafe.Pointer, lda, ka int, b unsafe.Pointer, ldb int, c unsafe.Pointer, ldc, mask, mode int)

// Pack writes n slots of lines to a panel in which slots lie dstride bytes apart. A
// line's elements lie side by side and lines stride bytes apart, or the other way
// round. mask has a one for each line that there is, from the lowest bit on. n is the
// number of elements along k; where slots are pairs, it is filled up with zeros to a multiple of four. 16 slots are written each time, whatever mask says: 32 by the wide ones.
type Pack = func(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)

// Packs are the packs of a tier, by operands' dtype and by where elements lie.
type Packs struct {
	F32, F16, BF16 Packing
	// Tiles packs bfloat16 for [Tier.Tiles]: panels of B, and, turned once more by F32's
	// Transpose, those of A. TileRows packs 16 rows of A, whose elements lie side by side, at
	// once: blocks lie dstride bytes apart, rows that mask has no ones for repeat another one.
	Tiles    Packing
	TileRows Pack
}

// Packing packs one dtype. Copy16 and Copy32 take rows of lines that lie side by side,
// Transpose 16 lines whose elements do. Gather and Turn do the same for lines that lie
// anywhere; a tier may lack them. Pairs says that slots are pairs.
type Packing struct {
	Copy16, Copy32, Transpose Pack
	Gather, GatherEvens, Turn Gather
	Pairs                     bool
	// Whole says that whole registers are read: Copy16, of which there is no wider one,
	// reads 8 lines or 16 whatever mask says, and Transpose is of 8 lines, and of a
	// multiple of 8 elements.
	Whole bool
	// Slide and, by the number of stretches, Dots compute few rows of C from a B that is
	// read in place.
	Slide Slide
	Dots  []Dot
}

// Gather writes n elements of each of 16 lines to a panel in which slots lie dstride
// bytes apart; what a [Pack] says of n holds. Element k of line l lies at src plus the
// sum of where l and k lie. One of the two is told by stretches, of which Last ends 16,
// or what is left of n: that of lines in a Gather, those of k, one after the other, in a
// Turn, where 32 make pairs. The other is told by lead: of each k in a Gather, of the 16
// lines in a Turn.
type Gather = func(src unsafe.Pointer, stretches *Stretch, lead *int, dst unsafe.Pointer, dstride, n int)

// Slide computes rows of columns of C from one of A: c[r*crow + j] = Σ a[p] * b[offs[p] +
// r*brow + j], columns lying side by side. a and c are float32, offs, brow and crow are in
// bytes.
type Slide = func(k int, a unsafe.Pointer, offs *int, b unsafe.Pointer, brow int, c unsafe.Pointer, crow, cols, rows int)

// Dot goes on with sums, 8 float32 for each stretch of columns: sums[s] += a[p] * b[p +
// s], p ascending, elements of a and of each column of b lying side by side. Of bfloat16 the
// sums of all stretches are followed by those of the first, the third and so on of a block,
// and by those of the others; at elements of k have come before.
type Dot = func(k, at int, a, b unsafe.Pointer, stretches *Stretch, sums unsafe.Pointer)

// Stretch is a number of neighbours side by side: those that Mask has a one for, from
// the lowest bit on, lie where they would if the first of 16 lay at Off, in bytes. For a
// GatherEvens it is every second of up to 32.
type Stretch struct{ Off, Mask int }

// Last marks the last Stretch in its Mask.
const Last = 1 << 32

// Pass computes n elements of dst from x and perhaps y, all float32, with scalars that
// its place in [Loops] names. dst may be one of the others.
type Pass = func(dst, x, y unsafe.Pointer, n int, alpha, beta float32)

// HalfPass computes n elements of dst from x and perhaps y, all of one half dtype, n being a
// multiple of 64: they are widened, computed on in float32, and rounded once, NaN to 0x7e00
// or 0x7fc0. y's elements lie step bytes apart, 2, or 0 if 64 of it stand for all. dst may
// be x or y. If around is not 0, dst is written around the caches, for Fence, and must be
// aligned to 64.
type HalfPass = func(dst, x, y unsafe.Pointer, n, step, around int, alpha, beta float32)

// HalfPasses are the passes over one half dtype, as [Loops] and [Selects] have them.
type HalfPasses struct {
	Add, Sub, Mul, Div, AddScaled, Scale, Affine, Relu, ReluGrad, Sqrt HalfPass
	Neg, Abs, TanhGrad, SigmoidGrad, Max, Min                          HalfPass
}

// Loops are a tier's passes over memory; those that it has not got are nil. All numbers
// are float32, and each operation rounds.
type Loops struct {
	// Conversions of n elements, at least 16; NaN become 0x7e00 and 0x7fc0.
	WidenF16, WidenBF16, NarrowF16, NarrowBF16 func(dst, src unsafe.Pointer, n int)

	Add, Sub, Mul, Div, AddScaled, Scale, Affine, Relu, ReluGrad, Sqrt Pass
	// Neg has -0 as alpha, the derivatives have 1.
	Neg, Abs, TanhGrad, SigmoidGrad Pass

	// Largest returns the largest magnitude, as bits; NaN counts as more than infinity.
	Largest func(x unsafe.Pointer, n int) uint32
	// Sum adds in 16 lanes, lane l of elements l, l+16, …, and then lanes l and l+8, l
	// and l+4, l and l+2, and the last two.
	Sum func(x unsafe.Pointer, n int) float32
	// Adam is m += c[0]*(g-m), v = c[1]*v + c[2]*(g*g), x = c[3]*x -
	// c[5]*(m/(c[4]*sqrt(v)+c[6])).
	Adam func(x, g, m, v unsafe.Pointer, n int, c *[7]float32)

	Count16, Count32 Count

	// Stream copies n bytes, a multiple of 256 and not 0, around the cache to where
	// dst is aligned to 64. Fence makes them visible to other processors.
	Stream func(dst, src unsafe.Pointer, n int)
	Fence  func()
}

// Count sets c to what is in n numbers of 16 or 32 bits; n must be a multiple of 32
// and not 0.
type Count = func(x unsafe.Pointer, n int, of *Format, c *Census)

// Format is how a format's bits, without the sign, tell kinds of numbers apart: the
// mask of a magnitude, the least normal number, infinity, and the least NaN.
type Format struct{ Magnitude, Normal, Inf, NaN uint32 }

// Census is what a [Count] finds. Least and Most are the magnitudes of finite numbers
// that are not 0, as bits: Least less 1, all ones of the format if there is none, and
// Most 0.
type Census struct {
	Zeros, Subnormals, Infs, NaNs int
	Least, Most                   uint32
}

// Variable is the environment variable that names the tier to use, "portable" for
// none. A tier that the processor has not got makes the program panic at its start.
const Variable = "HALFNOTE_CPU"

// Portable is what Variable says for no tier.
const Portable = "portable"

var (
	tileState string // see [TileState]
	tiers     = detect()
)

// TileState returns why the tier "amx" is missing, "" if it is there.
func TileState() string { return tileState }

// Tiers returns what this processor can do, the best first: what it does fastest.
func Tiers() []*Tier { return tiers }

// Best returns the tier that [Variable] names, without it the first of Tiers; nil
// stands for portable code.
func Best() *Tier {
	name := os.Getenv(Variable)
	if name == "" && len(tiers) > 0 {
		return tiers[0]
	}
	if name == "" || name == Portable {
		return nil
	}
	known := ""
	for _, t := range tiers {
		if t.Name == name {
			return t
		}
		known += t.Name + ", "
	}
	panic("asm: " + Variable + " is " + name + ", expected one of " + known + Portable)
}
