// Sums, products and extremes of elements summed in 64 bits.
#include "fold.cuh"

FOLD(double, 2, float64)
FOLD(i64, 2, int64)
FOLD(i32, 4, int32)
FOLD(i16, 4, int16)
FOLD(i8, 4, int8)
FOLD(u8, 4, uint8)
FOLD(flag, 4, bool)
FOLD_JOINTS(double, float64)
FOLD_JOINTS(i64, int64)
