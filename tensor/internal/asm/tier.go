package asm

import (
	"os"
	"unsafe"
)

// Tier is a set of kernels for one instruction set.
//
// A slot is 32 bits of a packed panel: a float32, or two bfloat16 of one line. Two consecutive slots
// hold four elements along k: the first slot holds the third and the first element, the second slot
// the fourth and the second. So all even slots belong to one sum of a block, and all odd slots to the
// other.
type Tier struct {
	// Name is the tier's name in [Variable].
	Name string
	// Rows and Cols are the sizes of a tile of C, and of panels of A and B.
	Rows, Cols int
	// F32 and BF16 hold the kernels for panels of float32 and of bfloat16, by number of rows.
	// bfloat16 is packed as slots of pairs if Pairs is set, otherwise widened to float32.
	F32   []Tile
	BF16  []Blocks
	Pairs bool
	// Tiles computes large products of bfloat16, with the same bits as BF16. It may be nil.
	Tiles Tiles
	// Windows holds the kernels of convolutions for 1 and for 2 registers of columns, by number of rows,
	// which is even. It may be nil.
	Windows [][]Windows
	// Direct holds kernels that read A in place, by number of rows. It may be nil.
	Direct []Direct
	// Turned holds similar kernels for few rows, 16 columns, and Store or Continue. The elements of a
	// row of A and of a column of B are adjacent, and columns of B are ldb apart.
	Turned []Direct
	// Packs holds the packing kernels. If it is nil, package cpu packs in Go.
	Packs *Packs
	// Loops, Norms and Selects hold the other kernels.
	Loops Loops
	// Functions holds passes of elementary functions.
	Functions []FunctionPass
	// Float16Functions and BFloat16Functions are the same for halves, nil for those that a tier lacks.
	Float16Functions, BFloat16Functions []HalfPass
	// Most returns the largest of n float32, NaN if there is one, for n a multiple of 8.
	Most func(x unsafe.Pointer, n int) float32
	// Dropped is alpha*x where the byte of y is not 0, otherwise 0*x, for n a multiple of 8.
	Dropped Pass
	// Twist computes part of MT19937's recurrence for n words, a multiple of 8. Below draws n bools,
	// a multiple of 4. See package tensor.
	Twist   func(words, far unsafe.Pointer, n int)
	Below   func(dst, words unsafe.Pointer, n int, limit uint64)
	Norms   Norms
	Selects Selects
	// Float16 and BFloat16 hold the passes over half precision.
	Float16, BFloat16 HalfPasses
}

// Tile computes a product of panels of A, [k][Rows] slots, and of B, [k][Cols] slots, and stores it
// as end specifies. k counts slots and is at least 1. The number of rows is the tile's index in
// [Tier]. It prefetches from the address next, and advances by step bytes after every four slots.
type Tile = func(k int, a, b unsafe.Pointer, end *End, next uintptr, step int)

// End holds the parameters of the end of a [Tile]: C[rows, Cols] = Sums + product + Bias, in C's
// dtype. Sums and Bias are float32 and may be nil. The fields Ld are distances between rows in bytes.
// A product of bfloat16 continues from Sums, as if k were not split there, which must be the end of a
// block. It needs Room for a tile of float32, a [Tiles] for two, aligned to 64 bytes.
type End struct {
	Room   unsafe.Pointer
	C      unsafe.Pointer
	Ldc    int
	As     int // one of the following values
	Sums   unsafe.Pointer
	LdSums int
	Bias   unsafe.Pointer
	LdBias int
}

// Values of [End].As.
const (
	Store  = iota // store float32
	Stream        // store float32 around the cache; C must be aligned to the width of a register
	Float16
	BFloat16
	StreamBFloat16 // store bfloat16 around the cache, by a Tiles; rows of C must be aligned to 64 bytes
)

// Modes of a [Direct], in addition to Store.
const (
	Add      = iota + 1 // C += the product
	Continue            // sums start at C instead of 0
)

// TileLines is the number of rows and of columns that [Tiles] computes at a time, and TileBlock the
// number of elements of k in a block.
const (
	TileLines = 32
	TileBlock = 32
)

// Tiles computes products of several panels of A, of TileLines rows each, and one panel of B, of
// TileLines columns, by AMX's tiles.
type Tiles = func(t *Panels)

// Blocks computes products of several panels of A and one panel of B, [k][Cols] slots. The number of
// rows of a panel of A is the kernel's index in [Tier].
type Blocks = func(t *Panels)

// Panels holds the parameters of a [Tiles] or [Blocks]. Panels of A are StepA bytes apart. Rows is the
// number of rows of C. End holds the parameters for the first panel, and the rows of the other panels
// follow.
//
// For a Tiles, K is the number of blocks. A row of A has TileBlock adjacent bfloat16 of each, blocks are
// SlotA bytes apart and rows RowA. The panel of B is [K][TileBlock/2][columns] slots of two adjacent
// elements along k. Both must be padded with zeros to whole blocks. The last panel may have fewer rows
// than TileLines of C, but A and Sums must have rows for whole panels.
//
// For a Blocks, K is the number of slots, at least 1. Slots of a row of A are SlotA bytes apart, and
// rows RowA. Rows is a multiple of a panel's rows. It prefetches from Next, and advances by NextStep
// after every four slots.
type Panels struct {
	K, Rows            int
	A, B               unsafe.Pointer
	StepA, RowA, SlotA int
	End
	Next     uintptr
	NextStep int
}

// Windows computes elements of a convolution of bfloat16, rows of C times 16 or 32 columns. The number of
// rows is the kernel's index in [Tier].
type Windows = func(w *Window)

// Window holds the parameters of a [Windows]. C = Σ product of A and B + Bias, over the Taps, which are the
// elements of the convolution's kernel that meet the image. Each has Blocks blocks of 32 channels. A row of A has
// adjacent slots, and rows are RowA bytes apart. B has 16 columns of each slot, one slot after the other, and the
// other 16 columns are Apart bytes behind the first. C is bfloat16 with rows Ldc bytes apart and the other
// columns ApartC bytes behind the first. Bias has a float32 for each row, or is nil. The kernel needs Room for a tile
// of float32. For each block it prefetches [WindowNext] bytes from Next on.
//
// The other taps meet zeros around the image, whose products would change a sum of -0 to 0. A Tap with a Gap does
// this instead, and so does Zero, which is added after the last Tap: it is 0 after a gap, otherwise [MinusZero].
type Window struct {
	Blocks, Taps int
	Tap          *Tap
	A            unsafe.Pointer
	RowA         int
	B            unsafe.Pointer
	Apart        int
	Room         unsafe.Pointer
	C            unsafe.Pointer
	Ldc, ApartC  int
	Bias         unsafe.Pointer
	Next         uintptr
	Zero         uint32
}

// Tap is an element of a convolution's kernel, at offsets A of rows of A and B of the panel of B, in bytes. Gap is 1
// if elements before it meet zeros, otherwise 0.
type Tap struct{ A, B, Gap int }

// WindowNext is the number of bytes that a [Windows] prefetches for a block.
const WindowNext = 128

// MinusZero holds the bits of -0 in float32.
const MinusZero = 1 << 31

// Weave describes a transposition of N pairs of words, up to [WeaveMost], in each of up to 16 lines, Lines in all, to N
// rows of 16 pairs, of which the first Words words are stored. The first words of the pairs of a line are adjacent, and
// so are the second words, Second bytes behind the first. Lines are Stride bytes apart, with Skip more bytes after every
// second one, and rows DstStride. Missing lines are zeros. The transposition is repeated Times times, SrcStep bytes
// further in Src and DstStep in Dst.
//
// It needs a Room of [WeaveRoom] bytes. If N is at most [WeaveFew], each of the first 32 words of the Room becomes the
// largest word of its column without the sign bit, unless it is larger already.
type Weave struct {
	Src                           unsafe.Pointer
	Stride, Skip, Second, SrcStep int
	Dst                           unsafe.Pointer
	DstStride, DstStep            int
	Lines, N, Words, Times        int
	Room                          unsafe.Pointer
}

// Limits of a [Weave].
const (
	WeaveMost = 32
	WeaveFew  = 16
	WeaveRoom = 16 * 64
)

// Direct computes C[rows, 32] of float32: element (i, p) of A is at a + i*lda + p*ka, row p of B at b
// + p*ldb. The bits of mask select columns. All strides are in bytes. mode is Store, Add or Continue.
type Direct = func(k int, a unsafe.Pointer, lda, ka int, b unsafe.Pointer, ldb int, c unsafe.Pointer, ldc, mask, mode int)

// Pack copies n elements along k of several lines to a panel whose slots are dstride bytes apart.
// Either the elements of a line are adjacent and lines are stride bytes apart, or the reverse. mask
// has a one for each line, from the lowest bit on. If slots are pairs, n is padded with zeros to a
// multiple of four. 16 slots are written each time regardless of mask, or 32 by Copy32.
type Pack = func(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)

// Packs holds the packing kernels of a tier by dtype.
type Packs struct {
	F32, F16, BF16 Packing
	// Tiles packs bfloat16 for [Tier.Tiles]: panels of B and, transposed again by F32's Transpose,
	// panels of A. TileRows packs 16 rows of A with adjacent elements directly: blocks are dstride
	// bytes apart, and rows that mask excludes repeat another row.
	Tiles    Packing
	TileRows Pack
}

// Packing holds the packing kernels of one dtype. Copy16 and Copy32 copy adjacent lines, Transpose 16
// lines with adjacent elements. Gather and Turn do the same for lines with any positions, and may be
// nil. Lines copies lines with adjacent elements to lines of adjacent slots, dstride bytes apart, and
// writes up to 63 bytes after each; it may be nil. Pairs is set if slots are pairs.
type Packing struct {
	Copy16, Copy32, Transpose Pack
	Lines                     Pack
	Gather, GatherEvens, Turn Gather
	Pairs                     bool
	// Whole is set if whole registers are read: Copy16 reads 8 or 16 lines regardless of mask, and
	// Transpose takes 8 lines and a multiple of 8 elements. Copy32 is then nil.
	Whole bool
	// Slide and Dots compute few rows of C and read B in place. Dots is indexed by the number of
	// stretches.
	Slide Slide
	Dots  []Dot
}

// Gather copies n elements of each of 16 lines to a panel whose slots are dstride bytes apart. n is
// padded as by [Pack]. The position of element k of line l, relative to src, is the sum of a position
// of l and one of k. A Gather has the positions of the 16 lines in stretches, and those of each k in
// lead. A Turn has the positions of k in stretches, 16 elements after the other, or 32 for pairs, and
// those of the 16 lines in lead. Last marks the end of each group, or of the remainder of n.
type Gather = func(src unsafe.Pointer, stretches *Stretch, lead *int, dst unsafe.Pointer, dstride, n int)

// Slide computes a row of C, whose columns are arranged in separate rows, from a row of A: c[r*crow +
// j] = Σ a[p] * b[offs[p] + r*brow + j]. Columns j are adjacent. a and c are float32; offs, brow and
// crow are in bytes.
type Slide = func(k int, a unsafe.Pointer, offs *int, b unsafe.Pointer, brow int, c unsafe.Pointer, crow, cols, rows int)

// Dot adds to sums, 8 float32 for each stretch of columns: sums[s] += a[p] * b[p + s], p ascending.
// The elements of a and of each column of b are adjacent. For bfloat16 the sums of all stretches are
// followed by the sums of even elements of the current block, and by those of odd ones; at is the
// number of elements of k before this call.
type Dot = func(k, at int, a, b unsafe.Pointer, stretches *Stretch, sums unsafe.Pointer)

// Stretch is a group of adjacent elements. Bit i of Mask selects element i of 16, the first of which is
// at offset Off in bytes. For a GatherEvens these are every second of up to 32 elements.
type Stretch struct {
	Off  int
	Mask int64
}

// Last marks the last Stretch in its Mask.
const Last = 1 << 32

// Pass computes n elements of dst from x and possibly y, all float32. The field of [Loops] says what
// alpha and beta are. dst may be x or y.
type Pass = func(dst, x, y unsafe.Pointer, n int, alpha, beta float32)

// FunctionPass computes n elements of dst from x and possibly y, all float32, for n a multiple of 8.
// dst may be x or y. If around is not 0, dst is written around the caches and must be aligned to 64, and
// Fence must follow.
type FunctionPass = func(dst, x, y unsafe.Pointer, n, around int, alpha float32)

// HalfPass computes n elements of dst from x and possibly y, all of one half-precision dtype. n is a
// multiple of 64. Elements are widened, computed in float32, and rounded once; NaN becomes 0x7e00 or
// 0x7fc0. step is 2, the size of an element of y, or 0 to repeat the first 64. dst may be x or y. If
// around is not 0, dst is written around the caches and must be aligned to 64, and Fence must follow.
type HalfPass = func(dst, x, y unsafe.Pointer, n, step, around int, alpha, beta float32)

// HalfPasses holds the passes over one half-precision dtype, like those of [Loops] and [Selects].
type HalfPasses struct {
	Add, Sub, Mul, Div, AddScaled, Scale, Affine, Relu, ReluGrad, Sqrt HalfPass
	Neg, Abs, TanhGrad, SigmoidGrad, Max, Min                          HalfPass
}

// Loops holds a tier's passes over memory. Those that the tier lacks are nil. All numbers are float32,
// and each operation rounds.
type Loops struct {
	// Conversions of n elements, at least 16. NaN becomes 0x7e00 or 0x7fc0.
	WidenF16, WidenBF16, NarrowF16, NarrowBF16 func(dst, src unsafe.Pointer, n int)

	Add, Sub, Mul, Div, AddScaled, Scale, Affine, Relu, ReluGrad, Sqrt Pass
	// alpha is -0 for Neg, and 1 for the derivatives.
	Neg, Abs, TanhGrad, SigmoidGrad Pass

	// Largest returns the bits of the largest magnitude. NaN is larger than infinity.
	Largest func(x unsafe.Pointer, n int) uint32
	// Largest16 is Largest for half-precision numbers, an even number of them.
	Largest16 func(x unsafe.Pointer, n int) uint32
	// Sum adds in 16 lanes, where lane l adds elements l, l+16, …. Then it adds lanes l and l+8, lanes
	// l and l+4, lanes l and l+2, and the last two.
	Sum func(x unsafe.Pointer, n int) float32
	// Adam is m += c[0]*(g-m), v = c[1]*v + c[2]*(g*g), x = c[3]*x -
	// c[5]*(m/(c[4]*sqrt(v)+c[6])).
	Adam func(x, g, m, v unsafe.Pointer, n int, c *[7]float32)

	Count16, Count32 Count

	// Stream copies n bytes, a positive multiple of 256, around the cache to dst, which is aligned to
	// 64. Fence makes them visible to other processors.
	Stream func(dst, src unsafe.Pointer, n int)
	Fence  func()
	// Fetch brings n bytes, at least 1, from dst on into the first cache for writing. Processors follow
	// reads ahead by themselves, but writes less well.
	Fetch func(dst unsafe.Pointer, n int)
	// SplitBF16 sets hi to n float32, a positive multiple of 32, rounded to bfloat16, and lo to x - hi, rounded. NaN becomes 0x7fc0.
	SplitBF16 func(hi, lo, src unsafe.Pointer, n int)
	// Encode converts to narrow formats. LargestOfBlocks sets dst to the bits of the largest magnitude of each block, as Largest.
	Encode          Encode
	LargestOfBlocks func(dst, src unsafe.Pointer, blocks, width int)
	// RangesOfBlocks sets lo and hi to the least and the largest of 0 and the numbers of each block; what NaN gives is undefined.
	RangesOfBlocks func(lo, hi, src unsafe.Pointer, blocks, width int)
	Integers       Integers
	Decode         Decode
	DecodeIntegers DecodeIntegers
	// Pack4 stores the low halves of n bytes, a positive multiple of 32, two in a byte, the first in the low bits. Unpack4 is its inverse.
	Pack4, Unpack4 func(dst, src unsafe.Pointer, n int)
	// Pack6 stores n bytes below 64, a positive multiple of 32, four in three bytes, from the lowest bit on. Unpack6 is its inverse. They write 4 bytes more than
	// the result or read 4 more than the operand has.
	Pack6, Unpack6 func(dst, src unsafe.Pointer, n int)
}

// Encode sets dst, a byte for each of width float32 of some adjacent blocks, to the codes of the numbers times the factor of their block, with
// magnitudes limited by its limit, rounded to nearest even. width is a multiple of 16. NaN becomes a code of limit.
type Encode = func(dst, src unsafe.Pointer, blocks, width int, factors, limits unsafe.Pointer, c *Codes)

// Integers sets dst, a byte for each of width float32 of some adjacent blocks, to the numbers times the factor of their block, rounded to the nearest integer,
// plus its zero point, an int32, limited to lowest and -lowest-1. width is a multiple of 16, and products are below 2^31.
type Integers = func(dst, src unsafe.Pointer, blocks, width int, factors, zeros unsafe.Pointer, lowest int)

// Decode sets dst, float32, to the numbers of codes, a byte each, times the factor of their block. width is a multiple of 16.
type Decode = func(dst, src unsafe.Pointer, blocks, width int, factors unsafe.Pointer, c *Decoding)

// DecodeIntegers sets dst, float32, to codes, a byte each, with the bits of flip inverted, minus the zero point of their block, an int32, times its factor. width is a
// multiple of 16. With the sign bit in flip, and its value in the zero points, codes are two's complement.
type DecodeIntegers = func(dst, src unsafe.Pointer, blocks, width int, factors, zeros unsafe.Pointer, flip int)

// Decoding describes a format with a sign and without infinity. Magic is that of Codes, Magnitude the mask of a code without its sign, Normal the first
// code of a normal number, Rebias the difference of the biases at the place of float32's exponent, Top the code of the largest number,
// beyond which codes are NaN. Shift is the number of bits that a mantissa gains, Sign the distance of the sign to float32's.
type Decoding struct {
	Magic                               float32
	Magnitude, Normal, Rebias, Top, NaN uint32
	Shift, Sign                         uint64
}

// Codes describes a format of at most 8 bits. Magic is a float32 whose unit in the last place is the smallest number, Tiny the bits of the smallest normal
// float32, Half half a unit in the last place less 1, and Rebias the difference of the biases at the place of the exponent. Sign is
// the bit of the sign in a code, or Twos is all ones. Shift is the number of bits that a mantissa loses.
type Codes struct {
	Magic                          float32
	Tiny, Half, Rebias, Sign, Twos uint32
	Shift                          uint64
}

// Count sets c to the counts of n numbers of 16 or 32 bits. n is a positive multiple of 32.
type Count = func(x unsafe.Pointer, n int, of *Format, c *Census)

// Format holds bit patterns of a number format, without the sign: the mask of a magnitude, the
// smallest normal number, infinity, and the smallest NaN.
type Format struct{ Magnitude, Normal, Inf, NaN uint32 }

// Census holds the results of a [Count]. Least and Most are the bits of the smallest and largest
// magnitudes of finite numbers other than 0. Least is reduced by 1. Without such numbers Least has
// all bits of the format set, and Most is 0.
type Census struct {
	Zeros, Subnormals, Infs, NaNs int
	Least, Most                   uint32
}

// Variable is the environment variable that names the tier to use, or "portable" for none. The
// program panics at its start if the processor does not support the tier.
const Variable = "HALFNOTE_CPU"

// Portable is the value of Variable for portable code.
const Portable = "portable"

var (
	tileState string // see [TileState]
	tiers     = detect()
)

// TileState returns the reason why the tier "amx" is missing, or "" if it is available.
func TileState() string { return tileState }

// Tiers returns the tiers that this processor supports, the fastest first.
func Tiers() []*Tier { return tiers }

// Best returns the tier that [Variable] names, by default the first of Tiers. It returns nil for
// portable code.
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
	panic("asm: " + Variable + " is " + name + "; want one of " + known + Portable)
}
