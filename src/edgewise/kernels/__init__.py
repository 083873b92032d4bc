"""How kernels are compiled, and what they are written with."""
