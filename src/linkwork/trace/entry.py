"""The way into native code: a built-in function for Python to call, and the loops behind it.

* `run(plan, ports)`: clear what starts as zero, then walk the plan's segments, each a kernel over records.
* `batch(...)`: the same for many mechanisms, in lanes (see `batch`).
* `call`: a METH_FASTCALL built-in. It takes NumPy arrays, checks type, shape, layout, overlap and finiteness
  itself, runs, and returns the last argument, or False if a result is not finite. On any doubt about the
  arguments it does nothing and returns None; the caller takes the slow way, which converts or explains. One
  call costs some 0.1 us this way; taking `.ctypes.data` of four arrays alone costs 4.7.

The layout of an ndarray is part of NumPy's binary interface (PyArrayObject_fields).
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.trace import batch, native, plan
from linkwork.trace.once import once_in_all

MAX_PORTS = 16
_HEAD = object.__basicsize__
_DATA, _NDIM, _DIMS, _DESCR, _FLAGS = _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48
_TYPE = _HEAD - 8
_READABLE = 0x0001 | 0x0100  # C contiguous, aligned
_WRITABLE = _READABLE | 0x0400

# spec: ndarray type, float64 descriptor, None, run, plan, data, work, number of ports, of inputs, False;
# then per port: ndim, 3 dims, count, flags
_SPEC_HEAD, _SPEC_PORT = 10, 6

_CALL = """
declare void @Py_IncRef(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i1 @finite(ptr %x, i64 %n) {{
entry:
  %whole = and i64 %n, -8
  br label %eight_test
eight_test:
  %i = phi i64 [ 0, %entry ], [ %i8, %eight ]
  %sum = phi <8 x double> [ zeroinitializer, %entry ], [ %sum8, %eight ]
  %more8 = icmp slt i64 %i, %whole
  br i1 %more8, label %eight, label %rest_test
eight:
  %p8 = getelementptr double, ptr %x, i64 %i
  %v8 = load <8 x double>, ptr %p8, align 8
  %z8 = fsub <8 x double> %v8, %v8
  %sum8 = fadd <8 x double> %sum, %z8
  %i8 = add i64 %i, 8
  br label %eight_test
rest_test:
  %j = phi i64 [ %whole, %eight_test ], [ %j1, %rest ]
  %tail = phi double [ 0.0, %eight_test ], [ %tail1, %rest ]
  %more1 = icmp slt i64 %j, %n
  br i1 %more1, label %rest, label %verdict
rest:
  %p1 = getelementptr double, ptr %x, i64 %j
  %v1 = load double, ptr %p1
  %z1 = fsub double %v1, %v1
  %tail1 = fadd double %tail, %z1
  %j1 = add i64 %j, 1
  br label %rest_test
verdict:
  %odd = fcmp uno <8 x double> %sum, %sum
  %bits = bitcast <8 x i1> %odd to i8
  %fine8 = icmp eq i8 %bits, 0
  %fine1 = fcmp ord double %tail, %tail
  %fine = and i1 %fine8, %fine1
  ret i1 %fine
}}

define ptr @{name}(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %ports = alloca [{slots} x ptr]
  %at_spec = getelementptr i8, ptr %self, i64 {data}
  %spec = load ptr, ptr %at_spec
  %array_type = load ptr, ptr %spec
  %at_descr = getelementptr i64, ptr %spec, i64 1
  %float64 = load ptr, ptr %at_descr
  %at_none = getelementptr i64, ptr %spec, i64 2
  %none = load ptr, ptr %at_none
  %at_run = getelementptr i64, ptr %spec, i64 3
  %run = load ptr, ptr %at_run
  %at_plan = getelementptr i64, ptr %spec, i64 4
  %plan = load ptr, ptr %at_plan
  %at_constants = getelementptr i64, ptr %spec, i64 5
  %constants = load ptr, ptr %at_constants
  %at_work = getelementptr i64, ptr %spec, i64 6
  %work = load ptr, ptr %at_work
  %at_count = getelementptr i64, ptr %spec, i64 7
  %count = load i64, ptr %at_count
  %at_inputs = getelementptr i64, ptr %spec, i64 8
  %inputs = load i64, ptr %at_inputs
  store ptr %constants, ptr %ports
  %port1 = getelementptr ptr, ptr %ports, i64 1
  store ptr %work, ptr %port1
  %right_count = icmp eq i64 %nargs, %count
  br i1 %right_count, label %check, label %doubt
check:
  %i = phi i64 [ 0, %entry ], [ %i_next, %accept ]
  %at_arg = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %at_arg
  %at_type = getelementptr i8, ptr %arg, i64 {type}
  %type = load ptr, ptr %at_type
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %shape, label %doubt
shape:
  %offset = mul i64 %i, {spec_port}
  %place = add i64 %offset, {spec_head}
  %expected = getelementptr i64, ptr %spec, i64 %place
  %ndim = load i64, ptr %expected
  %at_ndim = getelementptr i8, ptr %arg, i64 {ndim}
  %has_ndim32 = load i32, ptr %at_ndim
  %has_ndim = sext i32 %has_ndim32 to i64
  %at_arg_descr = getelementptr i8, ptr %arg, i64 {descr}
  %arg_descr = load ptr, ptr %at_arg_descr
  %at_flags = getelementptr i8, ptr %arg, i64 {flags}
  %flags32 = load i32, ptr %at_flags
  %flags = sext i32 %flags32 to i64
  %at_wanted = getelementptr i64, ptr %expected, i64 5
  %wanted = load i64, ptr %at_wanted
  %kept = and i64 %flags, %wanted
  %ok1 = icmp eq i64 %ndim, %has_ndim
  %ok2 = icmp eq ptr %arg_descr, %float64
  %ok3 = icmp eq i64 %kept, %wanted
  %ok12 = and i1 %ok1, %ok2
  %ok = and i1 %ok12, %ok3
  %at_dims = getelementptr i8, ptr %arg, i64 {dims}
  %dims = load ptr, ptr %at_dims
  br i1 %ok, label %dimension_test, label %doubt
dimension_test:
  %d = phi i64 [ 0, %shape ], [ %d_next, %dimension ]
  %more_d = icmp slt i64 %d, %ndim
  br i1 %more_d, label %dimension, label %values
dimension:
  %at_dim = getelementptr i64, ptr %dims, i64 %d
  %dim = load i64, ptr %at_dim
  %d_next = add i64 %d, 1
  %at_want = getelementptr i64, ptr %expected, i64 %d_next
  %want = load i64, ptr %at_want
  %same = icmp eq i64 %dim, %want
  br i1 %same, label %dimension_test, label %doubt
values:
  %at_array = getelementptr i8, ptr %arg, i64 {data}
  %array = load ptr, ptr %at_array
  %slot = add i64 %i, 2
  %at_slot = getelementptr ptr, ptr %ports, i64 %slot
  store ptr %array, ptr %at_slot
  %is_input = icmp slt i64 %i, %inputs
  br i1 %is_input, label %look, label %accept
look:
  %at_size = getelementptr i64, ptr %expected, i64 4
  %size = load i64, ptr %at_size
  %fine = call i1 @finite(ptr %array, i64 %size)
  br i1 %fine, label %accept, label %doubt
accept:
  %i_next = add i64 %i, 1
  %more = icmp slt i64 %i_next, %count
  br i1 %more, label %check, label %outputs
outputs:
  br label %overlap_test
overlap_test:
  %o = phi i64 [ %inputs, %outputs ], [ %o_next, %overlap_end ]
  %more_o = icmp slt i64 %o, %count
  br i1 %more_o, label %overlap, label %go
overlap:
  %o_slot = add i64 %o, 2
  %at_o = getelementptr ptr, ptr %ports, i64 %o_slot
  %o_begin = load i64, ptr %at_o
  %o_offset = mul i64 %o, {spec_port}
  %o_place = add i64 %o_offset, {spec_size}
  %at_o_size = getelementptr i64, ptr %spec, i64 %o_place
  %o_size = load i64, ptr %at_o_size
  %o_bytes = mul i64 %o_size, 8
  %o_end = add i64 %o_begin, %o_bytes
  br label %pair_test
pair_test:
  %n = phi i64 [ 0, %overlap ], [ %n_next, %pair_end ]
  %more_n = icmp slt i64 %n, %o
  br i1 %more_n, label %pair, label %overlap_end
pair:
  %n_slot = add i64 %n, 2
  %at_n = getelementptr ptr, ptr %ports, i64 %n_slot
  %n_begin = load i64, ptr %at_n
  %n_offset = mul i64 %n, {spec_port}
  %n_place = add i64 %n_offset, {spec_size}
  %at_n_size = getelementptr i64, ptr %spec, i64 %n_place
  %n_size = load i64, ptr %at_n_size
  %n_bytes = mul i64 %n_size, 8
  %n_end = add i64 %n_begin, %n_bytes
  %apart1 = icmp sge i64 %n_begin, %o_end
  %apart2 = icmp sge i64 %o_begin, %n_end
  %the_same = icmp eq i64 %n_begin, %o_begin
  %apart = or i1 %apart1, %apart2
  %harmless = or i1 %apart, %the_same
  br i1 %harmless, label %pair_end, label %doubt
pair_end:
  %n_next = add i64 %n, 1
  br label %pair_test
overlap_end:
  %o_next = add i64 %o, 1
  br label %overlap_test
go:
  call void %run(ptr %plan, ptr %ports)
  br label %result_test
result_test:
  %r = phi i64 [ %inputs, %go ], [ %r_next, %result ]
  %more_r = icmp slt i64 %r, %count
  br i1 %more_r, label %result, label %done
result:
  %r_offset = mul i64 %r, {spec_port}
  %r_place = add i64 %r_offset, {spec_size}
  %at_r_size = getelementptr i64, ptr %spec, i64 %r_place
  %r_size = load i64, ptr %at_r_size
  %r_slot = add i64 %r, 2
  %at_r = getelementptr ptr, ptr %ports, i64 %r_slot
  %r_array = load ptr, ptr %at_r
  %r_fine = call i1 @finite(ptr %r_array, i64 %r_size)
  %r_next = add i64 %r, 1
  br i1 %r_fine, label %result_test, label %failed
done:
  %last = sub i64 %count, 1
  %at_last = getelementptr ptr, ptr %args, i64 %last
  %answer = load ptr, ptr %at_last
  call void @Py_IncRef(ptr %answer)
  ret ptr %answer
failed:
  %at_false = getelementptr i64, ptr %spec, i64 9
  %false = load ptr, ptr %at_false
  call void @Py_IncRef(ptr %false)
  ret ptr %false
doubt:
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}}
"""


class _Table(np.ndarray):
    """A table of addresses that keeps alive what it points to."""

    keep: tuple[Any, ...]


def table(addresses: Sequence[int], keep: tuple[Any, ...]) -> np.ndarray:
    """Return addresses and other integers as an array that keeps some objects alive."""
    made = np.array(addresses, np.int64).view(_Table)
    made.keep = keep
    return made


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@once_in_all
def _functions() -> dict[str, int]:
    """Compile (or load) the loops and the entry, and return their addresses."""
    api = ctypes.pythonapi
    native.provide({"Py_IncRef": ctypes.cast(api.Py_IncRef, ctypes.c_void_p).value or 0})
    lanes = native.lanes()
    name = native.digest("entry", lanes, _HEAD)

    def build() -> tuple[str, dict[str, Any]]:
        call = _CALL.format(
            name=f"call_{name}",
            slots=MAX_PORTS,
            data=_DATA,
            type=_TYPE,
            ndim=_NDIM,
            dims=_DIMS,
            descr=_DESCR,
            flags=_FLAGS,
            spec_head=_SPEC_HEAD,
            spec_port=_SPEC_PORT,
            spec_size=_SPEC_HEAD + 4,
        )
        loops = [
            plan.text(f"run1_{name}", 1),
            plan.text(f"run_{name}", lanes),
            batch.text(f"batch_{name}", lanes),
        ]
        return "\n".join([*loops, call]), {}

    native.load(name, build)
    return {part: native.address(f"{part}_{name}") for part in ("run1", "run", "call", "batch")}


def walker(lanes: int) -> int:
    """Return the address of `run` for one mechanism or for lanes of them."""
    return _functions()["run1" if lanes == 1 else "run"]


def batch_function() -> Any:
    """Return `batch` as a ctypes function; it lets go of the interpreter's lock while it runs."""
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    arguments = (pointer,) * 7 + (integer,) * 3
    return ctypes.CFUNCTYPE(integer, *arguments)(_functions()["batch"])


_METH_FASTCALL = 0x0080


@once_in_all
def _method() -> _MethodDef:
    return _MethodDef(
        b"kernel", _functions()["call"], _METH_FASTCALL, b"Run on arrays; None if they need a closer look."
    )


def built_in(
    run: int,
    steps: np.ndarray,
    data: np.ndarray,
    shapes: Sequence[tuple[int, ...]],
    inputs: int,
    work_size: int,
    keep: object,
) -> Any:
    """Return a built-in function of arrays of these shapes, inputs first, for a kernel `run(plan, ports)`.

    It keeps `keep` alive, which owns what steps (the plan) and data point to. One call at a time uses its
    scratch memory, since the interpreter's lock is held.
    """
    work = np.empty(work_size)
    if len(shapes) + 2 > MAX_PORTS or any(len(shape) > 3 for shape in shapes):
        raise ValueError(f"too many arrays or dimensions: {shapes}")
    spec = [id(np.ndarray), id(np.dtype(np.float64)), id(None), run]
    spec += [array.ctypes.data for array in (steps, data, work)] + [len(shapes), inputs, id(False)]
    for k, shape in enumerate(shapes):
        dims = [*shape, *[0] * (3 - len(shape))]
        spec += [len(shape), *dims, int(np.prod(shape)), _READABLE if k < inputs else _WRITABLE]
    fixed = table(spec, keep=(steps, data, work, keep))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = (
        ctypes.py_object,
        (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p),
    )
    return make(ctypes.byref(_method()), fixed, None)
