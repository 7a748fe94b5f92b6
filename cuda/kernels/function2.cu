// Functions of two operands of float32, float16 and bfloat16.
#include "functions.cuh"
#include "erf.cuh"
#include "power.cuh"
#include "quotient.cuh"
#include "trig.cuh"
#include "typed.cuh"

struct Binary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			BINARY_FUNCTIONS
			EACH(GeluGrad, geluGrad(x, y))
			EACH(SiluGrad, siluGrad(x, y))
			EACH(GeluTanhGrad, geluTanhGrad(x, y))
		}
	}
};

TYPED(binary, Binary, float, 4, 2, 4)
