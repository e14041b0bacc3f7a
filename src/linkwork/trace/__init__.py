"""The tracing compiler: expressions, differentiation, elementary functions, LLVM code, cache, entry."""
