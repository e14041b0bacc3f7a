"""Native code: LLVM text of expressions and loops, the store of object code, the entry from Python, Numba."""
