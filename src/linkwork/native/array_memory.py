"""LLVM text of what Numba's runtime does otherwise: memory of arrays that a loop makes for itself.

An array made inside a loop is never seen outside of it, nor by another thread: so counting is not atomic.
The head of its memory is laid out as Numba's front end knows it: count, destructor and its argument, address
of the numbers, size, allocator. Arrays that came from Python have no head; the caller keeps them.
"""

TEXT = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) noinline {
entry:
  %align = zext i32 %alignment to i64
  %with_head = add i64 %size, 48
  %all = add i64 %with_head, %align
  %head = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %fill
fill:
  %behind = getelementptr i8, ptr %head, i64 48
  %place = ptrtoint ptr %behind to i64
  %past = add i64 %place, %align
  %last = sub i64 %past, 1
  %mask = sub i64 0, %align
  %aligned = and i64 %last, %mask
  store i64 1, ptr %head
  %at_numbers = getelementptr i8, ptr %head, i64 24
  store i64 %aligned, ptr %at_numbers
  %at_size = getelementptr i8, ptr %head, i64 32
  store i64 %size, ptr %at_size
  br label %done
done:
  ret ptr %head
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %alignment) {
  %head = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment)
  ret ptr %head
}

define ptr @NRT_MemInfo_data_fast(ptr %head) {
  %at_numbers = getelementptr i8, ptr %head, i64 24
  %numbers = load ptr, ptr %at_numbers
  ret ptr %numbers
}

define void @NRT_incref(ptr %head) noinline {
entry:
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %head
  %after = add i64 %before, 1
  store i64 %after, ptr %head
  br label %done
done:
  ret void
}

define void @NRT_decref(ptr %head) noinline {
entry:
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %head
  %after = sub i64 %before, 1
  store i64 %after, ptr %head
  %last = icmp eq i64 %after, 0
  br i1 %last, label %release, label %done
release:
  call void @free(ptr %head)
  br label %done
done:
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %memory = call ptr @malloc(i64 %size)
  ret ptr %memory
}

define void @NRT_Free(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}
"""
