"""LLVM text of two built-in functions: they look at their NumPy arguments, run a kernel, look at the results.

    call(arrays...)         one mechanism, the interpreter's lock held
    many(room, arrays...)   a batch, the lock let go; `room` is a table of this thread's pointers

Both are METH_FASTCALL functions whose `self` is an array of integers, the spec: ndarray type, float64
descriptor, None, False, number of arrays, of inputs, run, plan, then data, work (call) or widths, places
(many); then per array ndim, 3 dims, count, flags. They return the last array; False if a number that
came out (or, of a batch, went in) is not finite; None, having done nothing, if an array is not just as the
spec says or a result would spoil an input.

The layout of an ndarray is part of NumPy's binary interface (PyArrayObject_fields).
"""

import numpy as np

HEAD = 10  # of the spec, before the arrays
PER_ARRAY = 6
MOST_ARRAYS = 14
READABLE = 0x0001 | 0x0100  # C contiguous, aligned
WRITABLE = READABLE | 0x0400

_OBJECT = object.__basicsize__
PLACES = {
    "data": _OBJECT,
    "ndim": _OBJECT + 8,
    "dims": _OBJECT + 16,
    "descr": _OBJECT + 40,
    "flags": _OBJECT + 48,
    "type": _OBJECT - 8,
    "head": HEAD,
    "per": PER_ARRAY,
    "slots": MOST_ARRAYS + 2,
}
LAYOUT = repr((PLACES, np.dtype(np.intp).itemsize))  # what the text depends on

_TEXT = """
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
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

define internal i64 @spec_at(ptr %spec, i64 %k) {{
  %at = getelementptr i64, ptr %spec, i64 %k
  %value = load i64, ptr %at
  ret i64 %value
}}

define internal i64 @array_spec(ptr %spec, i64 %array, i64 %k) {{
  %offset = mul i64 %array, {per}
  %place = add i64 %offset, {head}
  %which = add i64 %place, %k
  %value = call i64 @spec_at(ptr %spec, i64 %which)
  ret i64 %value
}}

; are the numbers of array a all finite?
define internal i1 @array_finite(ptr %spec, ptr %slots, i64 %a) {{
  %size = call i64 @array_spec(ptr %spec, i64 %a, i64 4)
  %at = getelementptr ptr, ptr %slots, i64 %a
  %array = load ptr, ptr %at
  %fine = call i1 @finite(ptr %array, i64 %size)
  ret i1 %fine
}}

; put the addresses of the arrays into slots; return how many mechanisms they are for, 0 if something does not fit
define internal i64 @arrays(ptr %spec, ptr %args, ptr %slots, i64 %extra) {{
entry:
  %array_type = load ptr, ptr %spec
  %at_descr = getelementptr ptr, ptr %spec, i64 1
  %float64 = load ptr, ptr %at_descr
  %count = call i64 @spec_at(ptr %spec, i64 4)
  %inputs = call i64 @spec_at(ptr %spec, i64 5)
  br label %check
check:
  %i = phi i64 [ 0, %entry ], [ %i_next, %accept ]
  %total = phi i64 [ 1, %entry ], [ %n, %accept ]
  %at_arg = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %at_arg
  %at_type = getelementptr i8, ptr %arg, i64 {type}
  %type = load ptr, ptr %at_type
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %shape, label %doubt
shape:
  %own_ndim = call i64 @array_spec(ptr %spec, i64 %i, i64 0)
  %ndim = add i64 %own_ndim, %extra
  %at_ndim = getelementptr i8, ptr %arg, i64 {ndim}
  %has_ndim32 = load i32, ptr %at_ndim
  %has_ndim = sext i32 %has_ndim32 to i64
  %at_arg_descr = getelementptr i8, ptr %arg, i64 {descr}
  %arg_descr = load ptr, ptr %at_arg_descr
  %at_flags = getelementptr i8, ptr %arg, i64 {flags}
  %flags32 = load i32, ptr %at_flags
  %flags = sext i32 %flags32 to i64
  %wanted = call i64 @array_spec(ptr %spec, i64 %i, i64 5)
  %kept = and i64 %flags, %wanted
  %ok1 = icmp eq i64 %ndim, %has_ndim
  %ok2 = icmp eq ptr %arg_descr, %float64
  %ok3 = icmp eq i64 %kept, %wanted
  %ok12 = and i1 %ok1, %ok2
  %ok = and i1 %ok12, %ok3
  %at_dims = getelementptr i8, ptr %arg, i64 {dims}
  %dims = load ptr, ptr %at_dims
  br i1 %ok, label %leading, label %doubt
leading:
  %many = icmp ne i64 %extra, 0
  br i1 %many, label %batch_size, label %dimensions
batch_size:
  %rows = load i64, ptr %dims
  %first = icmp eq i64 %i, 0
  %same_rows = icmp eq i64 %rows, %total
  %rows_fit = or i1 %first, %same_rows
  br i1 %rows_fit, label %dimensions, label %doubt
dimensions:
  %n = phi i64 [ 1, %leading ], [ %rows, %batch_size ]
  br label %dimension_test
dimension_test:
  %d = phi i64 [ 0, %dimensions ], [ %d_next, %dimension ]
  %more_d = icmp slt i64 %d, %own_ndim
  br i1 %more_d, label %dimension, label %accept
dimension:
  %d_has = add i64 %d, %extra
  %at_dim = getelementptr i64, ptr %dims, i64 %d_has
  %dim = load i64, ptr %at_dim
  %d_next = add i64 %d, 1
  %want = call i64 @array_spec(ptr %spec, i64 %i, i64 %d_next)
  %same = icmp eq i64 %dim, %want
  br i1 %same, label %dimension_test, label %doubt
accept:
  %at_data = getelementptr i8, ptr %arg, i64 {data}
  %data = load ptr, ptr %at_data
  %slot = getelementptr ptr, ptr %slots, i64 %i
  store ptr %data, ptr %slot
  %i_next = add i64 %i, 1
  %more = icmp slt i64 %i_next, %count
  br i1 %more, label %check, label %overlap_test
overlap_test:
  %o = phi i64 [ %inputs, %accept ], [ %o_next, %overlap_end ]
  %more_o = icmp slt i64 %o, %count
  br i1 %more_o, label %overlap, label %done
overlap:
  %at_o = getelementptr ptr, ptr %slots, i64 %o
  %o_begin = load i64, ptr %at_o
  %o_size = call i64 @array_spec(ptr %spec, i64 %o, i64 4)
  %o_all = mul i64 %o_size, %n
  %o_bytes = mul i64 %o_all, 8
  %o_end = add i64 %o_begin, %o_bytes
  br label %pair_test
pair_test:
  %p = phi i64 [ 0, %overlap ], [ %p_next, %pair_end ]
  %more_p = icmp slt i64 %p, %o
  br i1 %more_p, label %pair, label %overlap_end
pair:
  %at_p = getelementptr ptr, ptr %slots, i64 %p
  %p_begin = load i64, ptr %at_p
  %p_size = call i64 @array_spec(ptr %spec, i64 %p, i64 4)
  %p_all = mul i64 %p_size, %n
  %p_bytes = mul i64 %p_all, 8
  %p_end = add i64 %p_begin, %p_bytes
  %apart1 = icmp sge i64 %p_begin, %o_end
  %apart2 = icmp sge i64 %o_begin, %p_end
  %the_same = icmp eq i64 %p_begin, %o_begin
  %same_size = icmp eq i64 %p_size, %o_size
  %identical = and i1 %the_same, %same_size
  %apart = or i1 %apart1, %apart2
  %harmless = or i1 %apart, %identical
  br i1 %harmless, label %pair_end, label %doubt
pair_end:
  %p_next = add i64 %p, 1
  br label %pair_test
overlap_end:
  %o_next = add i64 %o, 1
  br label %overlap_test
done:
  ret i64 %n
doubt:
  ret i64 0
}}

; answer with an object of the spec (2: None, 3: False), or with the last array
define internal ptr @answer(ptr %object) {{
  call void @Py_IncRef(ptr %object)
  ret ptr %object
}}

define internal ptr @word(ptr %spec, i64 %k) {{
  %at = getelementptr ptr, ptr %spec, i64 %k
  %object = load ptr, ptr %at
  %given = call ptr @answer(ptr %object)
  ret ptr %given
}}

define ptr @call_{name}(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %ports = alloca [{slots} x ptr]
  %at_spec = getelementptr i8, ptr %self, i64 {data}
  %spec = load ptr, ptr %at_spec
  %count = call i64 @spec_at(ptr %spec, i64 4)
  %inputs = call i64 @spec_at(ptr %spec, i64 5)
  %slots = getelementptr ptr, ptr %ports, i64 2
  %right_count = icmp eq i64 %nargs, %count
  br i1 %right_count, label %look, label %doubt
look:
  %fits = call i64 @arrays(ptr %spec, ptr %args, ptr %slots, i64 0)
  %fit = icmp ne i64 %fits, 0
  br i1 %fit, label %input_test, label %doubt
input_test:
  %i = phi i64 [ 0, %look ], [ %i_next, %input ]
  %more_i = icmp slt i64 %i, %inputs
  br i1 %more_i, label %input, label %go
input:
  %i_fine = call i1 @array_finite(ptr %spec, ptr %slots, i64 %i)
  %i_next = add i64 %i, 1
  br i1 %i_fine, label %input_test, label %doubt
go:
  %at_run = getelementptr ptr, ptr %spec, i64 6
  %run = load ptr, ptr %at_run
  %at_plan = getelementptr ptr, ptr %spec, i64 7
  %plan = load ptr, ptr %at_plan
  %at_data = getelementptr ptr, ptr %spec, i64 8
  %data = load ptr, ptr %at_data
  %at_work = getelementptr ptr, ptr %spec, i64 9
  %work = load ptr, ptr %at_work
  store ptr %data, ptr %ports
  %port1 = getelementptr ptr, ptr %ports, i64 1
  store ptr %work, ptr %port1
  call void %run(ptr %plan, ptr %ports)
  br label %output_test
output_test:
  %o = phi i64 [ %inputs, %go ], [ %o_next, %output ]
  %more_o = icmp slt i64 %o, %count
  br i1 %more_o, label %output, label %done
output:
  %o_fine = call i1 @array_finite(ptr %spec, ptr %slots, i64 %o)
  %o_next = add i64 %o, 1
  br i1 %o_fine, label %output_test, label %failed
done:
  %last = sub i64 %count, 1
  %at_last = getelementptr ptr, ptr %args, i64 %last
  %result = load ptr, ptr %at_last
  %given = call ptr @answer(ptr %result)
  ret ptr %given
failed:
  %no = call ptr @word(ptr %spec, i64 3)
  ret ptr %no
doubt:
  %none = call ptr @word(ptr %spec, i64 2)
  ret ptr %none
}}

define ptr @many_{name}(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %slots = alloca [{slots} x ptr]
  %at_spec = getelementptr i8, ptr %self, i64 {data}
  %spec = load ptr, ptr %at_spec
  %count = call i64 @spec_at(ptr %spec, i64 4)
  %inputs = call i64 @spec_at(ptr %spec, i64 5)
  %wanted = add i64 %count, 1
  %right_count = icmp eq i64 %nargs, %wanted
  br i1 %right_count, label %look, label %doubt
look:
  %arrays = getelementptr ptr, ptr %args, i64 1
  %total = call i64 @arrays(ptr %spec, ptr %arrays, ptr %slots, i64 1)
  %fit = icmp ne i64 %total, 0
  br i1 %fit, label %go, label %doubt
go:
  %room_table = load ptr, ptr %args
  %at_room = getelementptr i8, ptr %room_table, i64 {data}
  %room = load ptr, ptr %at_room
  %at_run = getelementptr ptr, ptr %spec, i64 6
  %run = load ptr, ptr %at_run
  %at_plan = getelementptr ptr, ptr %spec, i64 7
  %plan = load ptr, ptr %at_plan
  %at_widths = getelementptr ptr, ptr %spec, i64 8
  %widths = load ptr, ptr %at_widths
  %at_places = getelementptr ptr, ptr %spec, i64 9
  %places = load ptr, ptr %at_places
  %state = call ptr @PyEval_SaveThread()
  %status = call i64 @batch_{name}(ptr %run, ptr %plan, ptr %room, ptr %slots, ptr %widths, ptr %places, i64 %inputs, i64 %count, i64 %total)
  call void @PyEval_RestoreThread(ptr %state)
  %fine = icmp eq i64 %status, 0
  br i1 %fine, label %done, label %failed
done:
  %at_last = getelementptr ptr, ptr %args, i64 %count
  %result = load ptr, ptr %at_last
  %given = call ptr @answer(ptr %result)
  ret ptr %given
failed:
  %no = call ptr @word(ptr %spec, i64 3)
  ret ptr %no
doubt:
  %none = call ptr @word(ptr %spec, i64 2)
  ret ptr %none
}}
"""  # noqa: E501


def text(name: str) -> str:
    """Return both functions; `batch_name` must be in the same module."""
    return _TEXT.format(name=name, **PLACES)
