package quant

import (
	"encoding/binary"
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// Codes of 4 bits are stored two in a byte, the first in the low bits, as in torchao, Transformer Engine and safetensors. Codes of 6 bits are
// stored four in three bytes, as a stream of bits from the lowest on, as in safetensors; torchao 0.18 keeps each in a separate byte.

// sixSpare is the number of codes of 6 bits that must follow those that a kernel takes, since it reads and writes 16 bytes where 12 count.
const sixSpare = 8

// packed returns the number of bytes of n codes, which must be whole.
func packed(n, bits int) int { return n * bits / 8 }

// pack stores codes of the given number of bits, with the kernels of a tier, or in Go if that is nil.
func pack(dst, codes []uint8, bits int, tier *asm.Tier) {
	switch bits {
	case 4:
		i := 0
		if n := len(codes) &^ 31; n > 0 && tier != nil && tier.Loops.Pack4 != nil {
			tier.Loops.Pack4(unsafe.Pointer(&dst[0]), unsafe.Pointer(&codes[0]), n)
			i = n
		}
		for ; i+8 <= len(codes); i += 8 {
			w := binary.LittleEndian.Uint64(codes[i:]) & 0x0f0f0f0f0f0f0f0f
			w = (w | w>>4) & 0x00ff00ff00ff00ff
			w = (w | w>>8) & 0x0000ffff0000ffff
			binary.LittleEndian.PutUint32(dst[i/2:], uint32(w|w>>16))
		}
		for ; i+2 <= len(codes); i += 2 {
			dst[i/2] = codes[i]&15 | codes[i+1]<<4
		}
	case 6:
		i := 0
		if n := (len(codes) - sixSpare) &^ 31; n > 0 && tier != nil && tier.Loops.Pack6 != nil {
			tier.Loops.Pack6(unsafe.Pointer(&dst[0]), unsafe.Pointer(&codes[0]), n)
			i = n
		}
		for ; i+4 <= len(codes); i += 4 {
			w := uint32(codes[i]) | uint32(codes[i+1])<<6 | uint32(codes[i+2])<<12 | uint32(codes[i+3])<<18
			d := dst[i/4*3:][:3]
			d[0], d[1], d[2] = uint8(w), uint8(w>>8), uint8(w>>16)
		}
	default:
		copy(dst, codes)
	}
}

// unpack is the inverse of pack.
func unpack(codes, src []uint8, bits int, tier *asm.Tier) {
	switch bits {
	case 4:
		i := 0
		if n := len(codes) &^ 31; n > 0 && tier != nil && tier.Loops.Unpack4 != nil {
			tier.Loops.Unpack4(unsafe.Pointer(&codes[0]), unsafe.Pointer(&src[0]), n)
			i = n
		}
		for ; i+8 <= len(codes); i += 8 {
			w := uint64(binary.LittleEndian.Uint32(src[i/2:]))
			w = (w | w<<16) & 0x0000ffff0000ffff
			w = (w | w<<8) & 0x00ff00ff00ff00ff
			binary.LittleEndian.PutUint64(codes[i:], (w|w<<4)&0x0f0f0f0f0f0f0f0f)
		}
		for ; i+2 <= len(codes); i += 2 {
			codes[i], codes[i+1] = src[i/2]&15, src[i/2]>>4
		}
	case 6:
		i := 0
		if n := (len(codes) - sixSpare) &^ 31; n > 0 && tier != nil && tier.Loops.Unpack6 != nil {
			tier.Loops.Unpack6(unsafe.Pointer(&codes[0]), unsafe.Pointer(&src[0]), n)
			i = n
		}
		for ; i+4 <= len(codes); i += 4 {
			s := src[i/4*3:][:3]
			w := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16
			codes[i], codes[i+1], codes[i+2], codes[i+3] = uint8(w&63), uint8(w>>6&63), uint8(w>>12&63), uint8(w>>18&63)
		}
	default:
		copy(codes, src)
	}
}
