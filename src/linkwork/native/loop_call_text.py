"""LLVM text of the built-in function by which Python calls a loop.

It is a METH_FASTCALL function whose `self` is an array of integers, the spec: address of the loop, number of
arguments, kind of the result (0: None, 1: integer, 2: double), type ndarray, TypeError and a message for an
argument that does not fit, LinkworkError and a message for a loop that failed, None; then for each argument
three: kind, and of an array its number of dimensions and descriptor, of a tuple its length; the items of a
tuple follow it. The arguments become words on the stack (see `numba_front_end`), then the interpreter's lock
is let go. Calling a loop of three numbers takes 0.1 us.

The layout of an ndarray is part of NumPy's binary interface (PyArrayObject_fields).
"""

from linkwork.native.entry_text import PLACES, READABLE
from linkwork.native.loop_types import INTEGER, NUMBER, TUPLE

HEAD = 9  # of the spec, before the arguments
PER_ARGUMENT = 3
MOST_WORDS = 200

_TEXT = """
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyErr_Occurred()
declare void @PyErr_SetString(ptr, ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)

define internal i1 @fine() {{
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  ret i1 %fine
}}

; put an array's address and lengths where %at points to, which moves on; does it fit?
define internal i1 @array(ptr %object, ptr %item, ptr %array_type, ptr %at) {{
entry:
  %at_type = getelementptr i8, ptr %object, i64 {type}
  %type = load ptr, ptr %at_type
  %same = icmp eq ptr %type, %array_type
  br i1 %same, label %look, label %derived
derived:
  %subtype = call i32 @PyType_IsSubtype(ptr %type, ptr %array_type)
  %is_array = icmp ne i32 %subtype, 0
  br i1 %is_array, label %look, label %no
look:
  %at_wanted_ndim = getelementptr i64, ptr %item, i64 1
  %wanted_ndim = load i64, ptr %at_wanted_ndim
  %at_wanted_descr = getelementptr ptr, ptr %item, i64 2
  %wanted_descr = load ptr, ptr %at_wanted_descr
  %at_ndim = getelementptr i8, ptr %object, i64 {ndim}
  %ndim32 = load i32, ptr %at_ndim
  %ndim = sext i32 %ndim32 to i64
  %at_descr = getelementptr i8, ptr %object, i64 {descr}
  %descr = load ptr, ptr %at_descr
  %at_flags = getelementptr i8, ptr %object, i64 {flags}
  %flags = load i32, ptr %at_flags
  %kept = and i32 %flags, {readable}
  %ok1 = icmp eq i64 %ndim, %wanted_ndim
  %ok2 = icmp eq ptr %descr, %wanted_descr
  %ok3 = icmp eq i32 %kept, {readable}
  %ok12 = and i1 %ok1, %ok2
  %ok = and i1 %ok12, %ok3
  br i1 %ok, label %take, label %no
take:
  %at_data = getelementptr i8, ptr %object, i64 {data}
  %data = load i64, ptr %at_data
  %word = load ptr, ptr %at
  store i64 %data, ptr %word
  %at_dims = getelementptr i8, ptr %object, i64 {dims}
  %dims = load ptr, ptr %at_dims
  br label %dimension
dimension:
  %d = phi i64 [ 0, %take ], [ %d1, %dimension ]
  %at_dim = getelementptr i64, ptr %dims, i64 %d
  %dim = load i64, ptr %at_dim
  %d1 = add i64 %d, 1
  %at_word = getelementptr i64, ptr %word, i64 %d1
  store i64 %dim, ptr %at_word
  %more = icmp slt i64 %d1, %ndim
  br i1 %more, label %dimension, label %yes
yes:
  %used = add i64 %ndim, 1
  %next = getelementptr i64, ptr %word, i64 %used
  store ptr %next, ptr %at
  ret i1 true
no:
  ret i1 false
}}

; put one value, no tuple, where %at points to, which moves on; does it fit?
define internal i1 @take(ptr %object, ptr %item, ptr %array_type, ptr %at) {{
entry:
  %kind = load i64, ptr %item
  %word = load ptr, ptr %at
  %next = getelementptr i64, ptr %word, i64 1
  switch i64 %kind, label %array [ i64 {integer}, label %integer
                                   i64 {number}, label %number ]
integer:
  %whole = call i64 @PyLong_AsLongLong(ptr %object)
  store i64 %whole, ptr %word
  store ptr %next, ptr %at
  %odd_whole = icmp eq i64 %whole, -1
  br i1 %odd_whole, label %look, label %yes
number:
  %real = call double @PyFloat_AsDouble(ptr %object)
  store double %real, ptr %word
  store ptr %next, ptr %at
  %odd_real = fcmp oeq double %real, -1.0
  br i1 %odd_real, label %look, label %yes
look:
  %fine = call i1 @fine()
  ret i1 %fine
array:
  %fits = call i1 @array(ptr %object, ptr %item, ptr %array_type, ptr %at)
  ret i1 %fits
yes:
  ret i1 true
}}

; put all arguments into words; do they fit?
define internal i1 @arguments(ptr %spec, ptr %args, i64 %nargs, ptr %words) {{
entry:
  %at = alloca ptr
  %first_word = getelementptr i64, ptr %words, i64 1
  store ptr %first_word, ptr %at
  %at_count = getelementptr i64, ptr %spec, i64 1
  %count = load i64, ptr %at_count
  %at_array_type = getelementptr ptr, ptr %spec, i64 3
  %array_type = load ptr, ptr %at_array_type
  %first = getelementptr i64, ptr %spec, i64 {head}
  %right = icmp eq i64 %nargs, %count
  br i1 %right, label %argument, label %no
argument:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %item = phi ptr [ %first, %entry ], [ %item_next, %next ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %at_object = getelementptr ptr, ptr %args, i64 %i
  %object = load ptr, ptr %at_object
  %behind = getelementptr i64, ptr %item, i64 {per}
  %kind = load i64, ptr %item
  %is_tuple = icmp eq i64 %kind, {tuple}
  br i1 %is_tuple, label %tuple, label %plain
plain:
  %plain_fits = call i1 @take(ptr %object, ptr %item, ptr %array_type, ptr %at)
  br i1 %plain_fits, label %next, label %no
tuple:
  %at_length = getelementptr i64, ptr %item, i64 1
  %length = load i64, ptr %at_length
  %size = call i64 @PyTuple_Size(ptr %object)
  %same_size = icmp eq i64 %size, %length
  br i1 %same_size, label %inner, label %no
inner:
  %k = phi i64 [ 0, %tuple ], [ %k1, %inner_take ]
  %inner_item = phi ptr [ %behind, %tuple ], [ %inner_behind, %inner_take ]
  %more_k = icmp slt i64 %k, %length
  br i1 %more_k, label %inner_take, label %next
inner_take:
  %inner_object = call ptr @PyTuple_GetItem(ptr %object, i64 %k)
  %inner_fits = call i1 @take(ptr %inner_object, ptr %inner_item, ptr %array_type, ptr %at)
  %k1 = add i64 %k, 1
  %inner_behind = getelementptr i64, ptr %inner_item, i64 {per}
  br i1 %inner_fits, label %inner, label %no
next:
  %item_next = phi ptr [ %behind, %plain ], [ %inner_item, %inner ]
  %i1 = add i64 %i, 1
  br label %argument
yes:
  ret i1 true
no:
  ret i1 false
}}

; raise the error that the spec has at k, with the message behind it, unless there is one already
define internal ptr @raise(ptr %spec, i64 %k) {{
entry:
  %fine = call i1 @fine()
  br i1 %fine, label %set, label %done
set:
  %at_kind = getelementptr ptr, ptr %spec, i64 %k
  %kind = load ptr, ptr %at_kind
  %at_message = getelementptr ptr, ptr %at_kind, i64 1
  %message = load ptr, ptr %at_message
  call void @PyErr_SetString(ptr %kind, ptr %message)
  br label %done
done:
  ret ptr null
}}

define ptr @enter_{name}(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %words = alloca [{words} x i64]
  %at_spec = getelementptr i8, ptr %self, i64 {data}
  %spec = load ptr, ptr %at_spec
  %fit = call i1 @arguments(ptr %spec, ptr %args, i64 %nargs, ptr %words)
  br i1 %fit, label %go, label %doubt
go:
  %loop = load ptr, ptr %spec
  %state = call ptr @PyEval_SaveThread()
  %status = call i32 %loop(ptr %words)
  call void @PyEval_RestoreThread(ptr %state)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %answer, label %failed
answer:
  %at_result = getelementptr i64, ptr %spec, i64 2
  %result = load i64, ptr %at_result
  switch i64 %result, label %none [ i64 1, label %integer
                                    i64 2, label %number ]
integer:
  %whole = load i64, ptr %words
  %made_whole = call ptr @PyLong_FromLongLong(i64 %whole)
  ret ptr %made_whole
number:
  %real = load double, ptr %words
  %made_real = call ptr @PyFloat_FromDouble(double %real)
  ret ptr %made_real
none:
  %at_none = getelementptr ptr, ptr %spec, i64 8
  %nothing = load ptr, ptr %at_none
  call void @Py_IncRef(ptr %nothing)
  ret ptr %nothing
doubt:
  %type_error = call ptr @raise(ptr %spec, i64 4)
  ret ptr null
failed:
  %failure = call ptr @raise(ptr %spec, i64 6)
  ret ptr null
}}
"""

CALLED = (
    "Py_IncRef",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyLong_AsLongLong",
    "PyFloat_AsDouble",
    "PyLong_FromLongLong",
    "PyFloat_FromDouble",
    "PyErr_Occurred",
    "PyErr_SetString",
    "PyType_IsSubtype",
    "PyTuple_Size",
    "PyTuple_GetItem",
)


def text(name: str) -> str:
    """Return the function, `enter_name`."""
    return _TEXT.format(
        name=name,
        **(PLACES | {"head": HEAD, "per": PER_ARGUMENT}),
        words=MOST_WORDS,
        readable=READABLE,
        integer=INTEGER,
        number=NUMBER,
        tuple=TUPLE,
    )
