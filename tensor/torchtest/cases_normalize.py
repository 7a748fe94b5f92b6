"""Division by norms: torch.nn.functional.normalize, in all its orders.

It is made of a norm, a bound and a quotient, each of which rounds: what is compared in halves
is one rounding after float32.
"""

import torch
import torch.nn.functional as F

from oracle import *

WIDE = ("float32", "float64")
case("normalize", lambda x: F.normalize(x), randn(3, 4), dtypes=WIDE, tol=2)
for p in 1.0, 3.0, 0.5, float("inf"):
    case(f"normalize {p:g}", lambda x, p=p: F.normalize(x, p=p, dim=-1), randn(2, 3, 4), dtypes=WIDE, tol=4)
case("normalize 0", lambda x: F.normalize(x, p=0.0), values([[0.0, 1.0, -2.0], [0.5, 2.0, 3.0]]), dtypes=WIDE)
case("normalize zeros", lambda x: F.normalize(x, dim=0), values([[0.0, 1.0], [0.0, 2.0]]), dtypes=("float32",), double=False)
case("normalize eps", lambda x: F.normalize(x, dim=0, eps=2.5), randn(4, 5), dtypes=WIDE, tol=2)
