// Functions of float64, accurate to float64 precision: rare in training, so not optimised for
// speed.
#include "erf64.cuh"
#include "functions.cuh"
#include "power64.cuh"
#include "quotient.cuh"
#include "trig64.cuh"
#include "typed.cuh"

struct Unary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			UNARY_FUNCTIONS
		}
	}
};

struct Binary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			BINARY_FUNCTIONS
		}
	}
};

TYPED(unary, Unary, double, 1, 1, 4)
TYPED(binary, Binary, double, 1, 2, 4)
