"""What the verbs of `numba_functions` mean to Numba's front end: how loops reach memory and kernels."""

import inspect
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype

LANES = 8  # boxes, or doubles, that are looked at together


@intrinsic
def call(typing_context: Any, address: Any, plan: Any, ports: Any) -> Any:
    """Call `void (*)(int64, int64)` at an address; plan and ports are addresses too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def doubles(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the doubles at an address: x[i] is one of them; `size` is for the reader."""
    return _at(types.CPointer(types.float64), types.Omitted(None) if size is None else types.int64)


@intrinsic
def integers(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the 64-bit integers at an address; `size` is for the reader."""
    return _at(types.CPointer(types.int64), types.Omitted(None) if size is None else types.int64)


def _at(kind: Any, *others: Any) -> Any:
    """Return signature and code of what turns an address, and other arguments, into memory of a kind."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, *others), generate


@intrinsic
def memory(typing_context: Any, array: Any) -> Any:
    """Return the numbers of an array: x[i] is one of them, counted through all rows.

    Parts take these, not arrays: an array is counted whenever it is handed on, which costs more than a
    distance.
    """
    kind = types.CPointer(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make_array(array)(context, builder, arguments[0]).data

    return kind(array), generate


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """Return the 64 bits of a double as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def from_bits(typing_context: Any, word: Any) -> Any:
    """Return the double that has these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def add_scaled(typing_context: Any, x: Any, i: Any, n: Any, f: Any, y: Any, j: Any) -> Any:
    """Add f y[j + k] to x[i + k], for k below n, rounded once (fma)."""
    return types.void(x, types.int64, types.int64, types.float64, y, types.int64), _add_rows


@intrinsic
def add_two(
    typing_context: Any, x: Any, i: Any, n: Any, f: Any, y: Any, j: Any, g: Any, z: Any, k: Any
) -> Any:
    """Add f y[j + m], then g z[k + m], to x[i + m], for m below n."""
    term = types.float64, y, types.int64, types.float64, z, types.int64
    return types.void(x, types.int64, types.int64, *term), _add_rows


def _add_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Add multiples of rows to a row, which is none of them or the same.

    Eight numbers at a time, the rest of them masked: a compiler takes what is left of short rows one by one.
    """
    word, many = ir.IntType(64), ir.VectorType(ir.DoubleType(), LANES)
    flags, alignment = ir.VectorType(ir.IntType(1), LANES), ir.IntType(32)(8)
    place, zero = many.as_pointer(), ir.Constant(many, [0.0] * LANES)
    counted = ir.Constant(ir.VectorType(word, LANES), list(range(LANES)))
    first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

    def known(name: str, result: Any, *kinds: Any) -> Any:
        return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), f"llvm.{name}")

    def spread(value: Any) -> Any:
        nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
        one = builder.insert_element(nothing, value, ir.IntType(32)(0))
        return builder.shuffle_vector(one, nothing, first)

    def at(row: Any, k: Any) -> Any:
        return builder.bitcast(builder.gep(row, [k]), place)

    fused = known("fma.v8f64", many, many, many, many)
    load = known("masked.load.v8f64.p0", many, place, alignment.type, flags, many)
    store = known("masked.store.v8f64.p0", ir.VoidType(), many, place, alignment.type, flags)
    x, i, n = arguments[:3]
    to = builder.gep(x, [i])
    terms = [
        (spread(f), builder.gep(y, [j])) for f, y, j in zip(arguments[3::3], arguments[4::3], arguments[5::3])
    ]
    whole = builder.and_(n, word(-LANES))
    with cgutils.for_range_slice(builder, word(0), whole, word(LANES)) as (k, _):
        total = builder.load(at(to, k), align=8)
        for scale, row in terms:
            total = builder.call(fused, [scale, builder.load(at(row, k), align=8), total])
        builder.store(total, at(to, k), align=8)
    rest = builder.sub(n, whole)
    with builder.if_then(builder.icmp_signed(">", rest, word(0))):
        mask = builder.icmp_signed("<", counted, spread(rest))
        total = builder.call(load, [at(to, whole), alignment, mask, zero])
        for scale, row in terms:
            other = builder.call(load, [at(row, whole), alignment, mask, zero])
            total = builder.call(fused, [scale, other, total])
        builder.call(store, [total, at(to, whole), alignment, mask])
    return context.get_dummy_value()


@intrinsic
def boxes_met(typing_context: Any, numbers: Any, i: Any, k: Any, j: Any) -> Any:
    """Return which boxes of group j have a point in common with box k of group i, as bits.

    A group of eight boxes is 48 single numbers: their eight low x, low y, low z, high x, high y, high z. One
    comparison is of eight boxes; a compiler does not find that by itself in a loop that gathers bits.
    """
    word, eight = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)
    nothing = ir.Constant(eight, ir.Undefined)
    first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, i, k, j = arguments

        def bound(group: Any, b: int) -> Any:
            place = builder.add(builder.mul(group, word(6 * LANES)), word(LANES * b))
            return builder.gep(numbers, [place])

        def of_one(b: int) -> Any:
            value = builder.load(builder.gep(bound(i, b), [k]))
            return builder.shuffle_vector(
                builder.insert_element(nothing, value, ir.IntType(32)(0)), nothing, first
            )

        def of_all(b: int) -> Any:
            return builder.load(builder.bitcast(bound(j, b), eight.as_pointer()), align=4)

        met = None
        for axis in range(3):
            for low, high in ((of_one(axis), of_all(3 + axis)), (of_all(axis), of_one(3 + axis))):
                reached = builder.fcmp_ordered("<=", low, high)
                met = reached if met is None else builder.and_(met, reached)
        return builder.zext(builder.bitcast(met, ir.IntType(LANES)), word)

    return types.int64(numbers, types.int64, types.int64, types.int64), generate


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the number of the lowest bit of an integer that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


def record(layout: np.dtype[np.void]) -> Any:
    """Return what gives the record of this layout at an address."""

    def at(typing_context: Any, address: Any) -> Any:
        return _at(from_dtype(layout))

    return intrinsic(at)


def linked(symbol: str, result: Any, kinds: tuple[Any, ...]) -> Any:
    """Return what calls a linked loop, `i32 symbol(ptr words)`; see `numba_front_end`."""

    def called(typing_context: Any, *arguments: Any) -> Any:
        return result(*kinds), generate

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values: list[Any] = []
        for kind, value in zip(kinds, arguments, strict=True):
            if isinstance(kind, types.NamedTuple):
                values += [builder.extract_value(value, k) for k in range(len(kind.types))]
            else:
                values.append(value)
        word = ir.IntType(64)
        words = cgutils.alloca_once(builder, word, 1 + len(values))
        for k, value in enumerate(values, 1):
            place = builder.gep(words, [word(k)])
            builder.store(value, builder.bitcast(place, value.type.as_pointer()))
        kind = ir.FunctionType(ir.IntType(32), [word.as_pointer()])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, symbol), [words])
        if result is types.none:
            return context.get_dummy_value()
        return builder.load(builder.bitcast(words, context.get_value_type(result).as_pointer()))

    # Numba reads there how many arguments it takes.
    names = ["typing_context", *(f"x{k}" for k in range(len(kinds)))]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return intrinsic(called)
