"""LLVM's passes over a module. Traced kernels need none: they are written as good as they get."""

import re
from typing import Any

import llvmlite.binding as llvm

from linkwork.errors import LinkworkError

_RUNTIME = re.compile("NRT_|numba_|_ZN|Py")


def hand_written(module: Any, machine: Any) -> None:
    """Optimise functions whose text was written by hand."""
    builder = _builder(machine, 2, vectorize=True)
    builder.getModulePassManager().run(module, builder)


def loops(module: Any, machine: Any) -> None:
    """Optimise a loop and all that it calls, as they came from Numba's front end.

    First inlining, so that counts of references, which Numba writes around arrays, meet and cancel; then the
    whole. Nothing is reassociated or contracted: the arithmetic stays as it was written.
    """
    builder = _builder(machine, 0, vectorize=False)
    manager = builder.getModulePassManager()
    manager.add_loop_rotate_pass()
    manager.add_instruction_combine_pass()
    manager.add_jump_threading_pass()
    manager.add_refprune_pass()
    manager.run(module, builder)
    builder = _builder(machine, 3, vectorize=True)
    manager = builder.getModulePassManager()
    manager.add_refprune_pass()
    manager.run(module, builder)
    missing = [each.name for each in module.functions if each.is_declaration and _RUNTIME.match(each.name)]
    if missing:
        raise LinkworkError(
            f"loop {module.name}: it calls {', '.join(missing)}, which nothing but Numba's runtime has; "
            f"write it without (as assigning whole arrays, which raises errors with texts)"
        )


def _builder(machine: Any, level: int, *, vectorize: bool) -> Any:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = vectorize
    options.slp_vectorization = False
    return llvm.create_pass_builder(machine, options)
