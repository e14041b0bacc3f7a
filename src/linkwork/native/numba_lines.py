"""What lines (`cache_lines`) mean to Numba's front end: a type of its own, its operators and functions."""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

from linkwork.native.cache_lines import LINE

_HALF = LINE // 2

_double, _index = ir.DoubleType(), ir.IntType(32)
_vector = ir.VectorType(_double, _HALF)
_pair = ir.LiteralStructType([_vector, _vector])


class _Line(types.Type):
    """Eight doubles in registers: a pair of vectors."""

    def __init__(self) -> None:
        super().__init__("line")


_line: Any = _Line()


@register_model(_Line)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _pair)


def _joined(builder: Any, lower: Any, upper: Any) -> Any:
    first = builder.insert_value(ir.Constant(_pair, ir.Undefined), lower, 0)
    return builder.insert_value(first, upper, 1)


def _halves(builder: Any, line: Any) -> tuple[Any, Any]:
    return builder.extract_value(line, 0), builder.extract_value(line, 1)


def _on_halves(builder: Any, function: Any, lines: Any) -> Any:
    """Return the line that a function of vectors makes of both halves of lines."""
    return _joined(builder, *(function(*half) for half in zip(*(_halves(builder, each) for each in lines))))


def _shuffled(builder: Any, x: Any, places: list[int]) -> Any:
    return builder.shuffle_vector(x, x, ir.Constant(ir.VectorType(_index, _HALF), places))


def _addresses(builder: Any, address: Any) -> list[Any]:
    """Return pointers to the halves of the line at an address."""
    first = builder.inttoptr(address, _vector.as_pointer())
    return [first, builder.gep(first, [ir.Constant(_index, 1)])]


def _of_llvm(builder: Any, name: str, kind: Any, arguments: Any) -> Any:
    """Call a function of LLVM itself whose arguments and result are all of one type."""
    signature = ir.FunctionType(kind, [kind] * len(arguments))
    suffix = "f64" if kind is _double else f"v{_HALF}f64"
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
    return builder.call(function, arguments)


def _operator(function: Any, instruction: str) -> None:
    """Give lines an operator."""

    @type_callable(function)
    def typed(context: Any) -> Any:
        return lambda x, y: _line if x is _line and y is _line else None

    @lower_builtin(function, _line, _line)
    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _on_halves(builder, getattr(builder, instruction), arguments)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")


def _load(typing_context: Any, address: Any) -> Any:
    """Return the line at an address, which is a multiple of its length."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _addresses(builder, arguments[0])
        return _joined(builder, *(builder.load(place, align=8 * _HALF) for place in places))

    return _line(types.int64), generate


def _store(typing_context: Any, address: Any, x: Any) -> Any:
    """Store a line at an address, which is a multiple of its length."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for half, place in zip(_halves(builder, arguments[1]), _addresses(builder, arguments[0])):
            builder.store(half, place, align=8 * _HALF)
        return context.get_dummy_value()

    return types.void(types.int64, _line), generate


def _store_whole(typing_context: Any, address: Any, x: Any) -> Any:
    """Store a line in one piece, for kernels of eight lanes, which load it so."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = ir.Constant(ir.VectorType(_index, LINE), list(range(LINE)))
        whole = builder.shuffle_vector(*_halves(builder, arguments[1]), places)
        builder.store(whole, builder.inttoptr(arguments[0], whole.type.as_pointer()), align=8 * LINE)
        return context.get_dummy_value()

    return types.void(types.int64, _line), generate


def _load_number(typing_context: Any, address: Any) -> Any:
    """Return the double at an address, loaded by itself.

    A vector that is loaded soon after its numbers were stored one by one waits until they have all reached
    the cache; a single number does not. Atomic loads are never joined.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(arguments[0], _double.as_pointer()), "monotonic", 8)

    return types.float64(types.int64), generate


def _all_equal(typing_context: Any, x: Any) -> Any:
    """Return a line of the same number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing = ir.Constant(_vector, ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.Constant(_index, 0))
        half = _shuffled(builder, first, [0] * _HALF)
        return _joined(builder, half, half)

    return _line(types.float64), generate


def _fused(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z, rounded once; of lines or of numbers."""
    kind = _line if x is _line else types.float64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if kind is _line:
            return _on_halves(builder, lambda *half: _of_llvm(builder, "fma", _vector, half), arguments)
        return _of_llvm(builder, "fma", _double, arguments)

    return kind(kind, kind, kind), generate


def _magnitude(typing_context: Any, x: Any) -> Any:
    """Return the absolute values of a line."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _on_halves(builder, lambda half: _of_llvm(builder, "fabs", _vector, [half]), arguments)

    return _line(_line), generate


def _larger(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the larger of x and y, number by number; y where either is not a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def choose(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return _on_halves(builder, choose, arguments)

    return _line(_line, _line), generate


def _swapping(distance: int) -> Any:
    """Return a function that gives a line with neighbours at this distance in each other's place."""

    def swapped(typing_context: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if distance == _HALF:
                return _joined(builder, *reversed(_halves(builder, arguments[0])))
            places = [i ^ distance for i in range(_HALF)]
            return _on_halves(builder, lambda half: _shuffled(builder, half, places), arguments)

        return _line(_line), generate

    return intrinsic(swapped)


line_at: Any = intrinsic(_load)
put_line: Any = intrinsic(_store)
put_whole_line: Any = intrinsic(_store_whole)
number_at: Any = intrinsic(_load_number)
all_equal: Any = intrinsic(_all_equal)
fused: Any = intrinsic(_fused)
magnitude: Any = intrinsic(_magnitude)
larger: Any = intrinsic(_larger)
swapped_by_1, swapped_by_2, swapped_by_4 = _swapping(1), _swapping(2), _swapping(4)
