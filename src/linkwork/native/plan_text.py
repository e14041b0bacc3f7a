"""LLVM text of the loop over a plan: `void run(int64* plan, double** ports)`.

A plan is (segments, clears, then per clear: port, numbers; then per segment: kernel, records, count, step).
What must start as zero is cleared; then each kernel `void kernel(ports, records, count, step)` walks its
records.
"""

_TEXT = """
define void @{name}(ptr %plan, ptr %ports) {{
entry:
  %segments = load i64, ptr %plan
  %at_clears = getelementptr i64, ptr %plan, i64 1
  %clears = load i64, ptr %at_clears
  %first = getelementptr i64, ptr %plan, i64 2
  br label %clear_test
clear_test:
  %left = phi i64 [ %clears, %entry ], [ %fewer, %clear ]
  %item = phi ptr [ %first, %entry ], [ %after, %clear ]
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %clear, label %walk_test
clear:
  %port = load i64, ptr %item
  %at_size = getelementptr i64, ptr %item, i64 1
  %size = load i64, ptr %at_size
  %at_array = getelementptr ptr, ptr %ports, i64 %port
  %array = load ptr, ptr %at_array
  %bytes = mul i64 %size, {bytes}
  call void @llvm.memset.p0.i64(ptr %array, i8 0, i64 %bytes, i1 false)
  %after = getelementptr i64, ptr %item, i64 2
  %fewer = sub i64 %left, 1
  br label %clear_test
walk_test:
  %rest = phi i64 [ %segments, %clear_test ], [ %less, %walk ]
  %segment = phi ptr [ %item, %clear_test ], [ %following, %walk ]
  %some = icmp sgt i64 %rest, 0
  br i1 %some, label %walk, label %done
walk:
  %kernel = load ptr, ptr %segment
  %at_records = getelementptr i64, ptr %segment, i64 1
  %records = load ptr, ptr %at_records
  %at_count = getelementptr i64, ptr %segment, i64 2
  %count = load i64, ptr %at_count
  %at_step = getelementptr i64, ptr %segment, i64 3
  %step = load i64, ptr %at_step
  call void %kernel(ptr %ports, ptr %records, i64 %count, i64 %step)
  %following = getelementptr i64, ptr %segment, i64 4
  %less = sub i64 %rest, 1
  br label %walk_test
done:
  ret void
}}
"""


def text(name: str, lanes: int) -> str:
    """Return the function for ports of single numbers, or of vectors of lanes."""
    return _TEXT.format(name=name, bytes=8 * lanes)
