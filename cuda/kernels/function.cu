// Functions of one operand of float32, float16 and bfloat16.
#include "erf.cuh"
#include "functions.cuh"
#include "power.cuh"
#include "trig.cuh"
#include "typed.cuh"

struct Unary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			UNARY_FUNCTIONS
			EACH(Gelu, gelu(x))
			EACH(Silu, silu(x))
			EACH(GeluTanh, geluTanh(x))
		}
	}
};

TYPED(unary, Unary, float, 4, 1, 5)
