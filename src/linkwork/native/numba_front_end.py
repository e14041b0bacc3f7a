"""From decorated functions to LLVM text, by Numba's front end: its types and its lowering.

The text of an entry is one function  `i32 symbol(ptr words)`, with all that it calls: words[0] takes the
result, behind it come the arguments, a word each, and for an array its address and lengths. It answers 0, or
something else if the function raised. Nothing of Numba is needed to run it: what counts references to arrays
and makes new ones, which Numba's runtime does otherwise, is part of the text.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import compiler, types
from numba.core.decorators import njit
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from linkwork.native import numba_compilers, numba_intrinsics
from linkwork.native.array_memory import TEXT as ARRAY_MEMORY
from linkwork.native.index_checks import CHECKED
from linkwork.native.loop_types import ARRAY, INTEGER, POINTER, Kind, Named

_njit: Any = njit  # its types do not list all options
_target: Any = cpu_target
_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
_COMPILERS = {
    "part": numba_compilers.PartCompiler,
    "apart": numba_compilers.ApartCompiler,
    "within": numba_compilers.WithinCompiler,
}


def part(function: Callable[..., Any], how: str, any_constant: bool) -> Any:
    """Return Numba's dispatcher of a function that native code calls."""
    made = _njit(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        no_rewrites=True,
        boundscheck=CHECKED,
        pipeline_class=_COMPILERS[how],
    )(function)
    return _for_any_constant(made) if any_constant else made


def _for_any_constant(dispatcher: Any) -> Any:
    """Return a dispatcher that compiles once for all constants of a type, not for each."""
    template = dispatcher.get_call_template

    def of_types(arguments: Any, keywords: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return template(tuple(types.unliteral(kind) for kind in arguments), named)

    dispatcher.get_call_template = of_types
    return dispatcher


def intrinsic_type(module: str, name: str, parameters: Sequence[Any]) -> Any:
    """Return Numba's type of an intrinsic function, made of parameters if there are any."""
    made = getattr(importlib.import_module(module), name)
    if parameters:
        made = made(*parameters)
    _target.typing_context.refresh()
    return _target.typing_context.resolve_value_type(made)


def linked_type(symbol: str, result: str | None, arguments: Sequence[str | Named]) -> Any:
    """Return Numba's type of a loop that is linked: what native code calls by its symbol."""
    kinds = tuple(map(_type, arguments))
    answer = types.none if result is None else _type(result)
    return intrinsic_type(numba_intrinsics.__name__, "linked", (symbol, answer, kinds))


def _type(described: str | Named) -> Any:
    if isinstance(described, Named):
        return types.NamedTuple([_type(kind) for kind in described.kinds], described.name)
    kind = Kind.of(described)
    if kind.how == ARRAY:
        return types.Array(from_dtype(kind.dtype), kind.ndim, "C")
    if kind.how == POINTER:
        return types.CPointer(from_dtype(kind.dtype))
    return types.int64 if kind.how == INTEGER else types.float64


def text(
    function: Callable[..., Any], result: str | None, arguments: Sequence[str | Named], symbol: str
) -> str:
    """Return the LLVM text of an entry."""
    typing, target = _target.typing_context, _target.target_context
    typing.refresh()
    target.refresh()
    flags: Any = compiler.Flags()
    flags.nrt = True
    flags.error_model = "numpy"
    flags.boundscheck = CHECKED
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    compiled = compiler.compile_extra(
        typing,
        target,
        function,
        tuple(map(_type, arguments)),
        types.none if result is None else _type(result),
        flags,
        {},
        pipeline_class=numba_compilers.PartCompiler,
    )
    library = numba_compilers.Part(target.codegen(), symbol)
    library.add_ir_module(_door(target, compiled.fndesc, symbol))
    library.add_linking_library(compiled.library)
    library.finalize()
    return _whole(library, symbol)


def _door(target: Any, described: Any, symbol: str) -> Any:
    """Return a module with `i32 symbol(ptr words)`, which calls the compiled function."""
    module = target.create_module(symbol)
    function = ir.Function(module, ir.FunctionType(_STATUS, [_WORD.as_pointer()]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    words = _Words(target, builder, function.args[0])
    values = [words.take(kind) for kind in described.argtypes]
    inner = target.declare_function(module, described)
    status, value = target.call_conv.call_function(
        builder, inner, described.restype, described.argtypes, values
    )
    if CHECKED:  # who calls from native code does not ask
        with builder.if_then(status.is_error):
            builder.call(module.declare_intrinsic("llvm.trap", fnty=ir.FunctionType(ir.VoidType(), [])), [])
    if described.restype is not types.none:
        with builder.if_then(status.is_ok):
            place = builder.bitcast(function.args[0], value.type.as_pointer())
            builder.store(value, place)
    builder.ret(builder.zext(builder.not_(status.is_ok), _STATUS))
    return module


class _Words:
    """The arguments of an entry, taken one after the other from its words."""

    def __init__(self, target: Any, builder: Any, words: Any):
        self._target, self._builder, self._words = target, builder, words
        self._next = 1  # behind the result

    def _word(self) -> Any:
        place = self._builder.gep(self._words, [_WORD(self._next)])
        self._next += 1
        return place

    def take(self, kind: Any) -> Any:
        """Return the next value, of a type of Numba's."""
        builder, target = self._builder, self._target
        if isinstance(kind, types.NamedTuple):
            return target.make_tuple(builder, kind, [self.take(item) for item in kind.types])
        if isinstance(kind, types.Array):
            return self._array(kind)
        value = target.get_value_type(kind)
        return builder.load(builder.bitcast(self._word(), value.as_pointer()))

    def _array(self, kind: Any) -> Any:
        """Return a contiguous array, whose memory it does not own."""
        builder, target = self._builder, self._target
        array = make_array(kind)(target, builder)
        address = builder.load(self._word())
        shape = [builder.load(self._word()) for _ in range(kind.ndim)]
        size = target.get_abi_sizeof(target.get_data_type(kind.dtype))
        strides = [_WORD(size)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(
            array,
            data=builder.inttoptr(address, array.data.type),
            shape=shape,
            strides=strides,
            itemsize=_WORD(size),
            meminfo=None,
        )
        return array._getvalue()


def _whole(library: Any, symbol: str) -> str:
    """Return the text of a library with all that it calls; only the entry can be seen from outside."""
    module = library._get_module_for_linking().clone()
    module.link_in(llvm.parse_assembly(ARRAY_MEMORY))
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration:
            thing.linkage = "external" if thing.name == symbol else "internal"
    return str(module)
