"""The tracing compiler: expressions, differentiation, elementary functions, LLVM emission, object cache, entry."""
