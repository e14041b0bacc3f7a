"""Native code compiled ahead: the loops, and the kernels of usual mechanisms, as objects beside the sources.

    python -m linkwork.ahead                  for this machine: what a clone does when it is set up
    python -m linkwork.ahead --for-a-wheel    for all usual targets

What is there already and up to date stays; objects of other sources are removed. Loops are compiled side by
side in as many processes as there are processors.
"""

import argparse
import importlib
import multiprocessing
import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import llvmlite.binding as llvm

from linkwork.native import object_files, passes, sources, store
from linkwork.native.loop_entry import LOOPS
from linkwork.native.target import AHEAD, Target, host

_PACKAGE = Path(__file__).parent
_LOOP = re.compile(r"^@(entry|native_linked)\(", re.MULTILINE)


def modules_with_loops() -> list[str]:
    """Return the modules that have loops, those with most sources, which take longest to compile, first."""
    files = [file for file in _PACKAGE.rglob("*.py") if _LOOP.search(file.read_text(encoding="utf-8"))]
    files.sort(key=lambda file: -sum(source.stat().st_size for source in sources.closure(file)))
    return [".".join(("linkwork", *file.relative_to(_PACKAGE).with_suffix("").parts)) for file in files]


def compile_loops(module: str, targets: Sequence[Target]) -> list[Path]:
    """Compile the loops of a module for some targets, where that was not done; return their objects."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    importlib.import_module(module)
    made = []
    for loop in [loop for loop in LOOPS.values() if loop.function.__module__ == module]:
        paths = {target: store.object_file(target, loop.object_name(target)) for target in targets}
        made += paths.values()
        missing = [
            target
            for target, path in paths.items()
            if not object_files.read(path, object_files.is_of_package)
        ]
        text, meta = loop.build() if missing else ("", {})
        for target in missing:
            paths[target].parent.mkdir(parents=True, exist_ok=True)
            code = store.compile_text(text, passes.loops, target)
            object_files.write(paths[target], meta, code)
            paths[target].chmod(0o644)
    return made


def compile_kernels(target: Target) -> list[Path]:
    """Compile the kernels of usual mechanisms for a target, in a process of its own; return their objects."""
    folder = store.AHEAD_FOLDER / target.name
    store.compile_ahead(target, folder)
    from linkwork.usual_kernels import use_all

    use_all()
    return [folder / f"{name}{object_files.SUFFIX}" for name in store.loaded()]


def compile_all(targets: Sequence[Target]) -> Iterator[tuple[str, list[Path]]]:
    """Compile loops and kernels side by side, and yield what was done and its objects."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, max_tasks_per_child=1) as pool:
        work = {pool.submit(compile_loops, name, targets): name for name in modules_with_loops()}
        for future in as_completed(work):
            yield work[future], future.result()
        work = {pool.submit(compile_kernels, target): f"kernels for {target.name}" for target in targets}
        for future in as_completed(work):
            yield work[future], future.result()


def remove_others(kept: set[Path]) -> None:
    """Remove the objects of targets and sources that are not among these."""
    for path in store.AHEAD_FOLDER.rglob(f"*{object_files.SUFFIX}"):
        if path not in kept:
            path.unlink()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m linkwork.ahead", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--for-a-wheel", action="store_true", help="for all usual targets")
    wheel = parser.parse_args(arguments).for_a_wheel
    targets = AHEAD if wheel else (host(),)
    total = len(modules_with_loops()) + len(targets)
    kept: set[Path] = set()
    for count, (what, paths) in enumerate(compile_all(targets), 1):
        kept.update(paths)
        print(f"native code {count}/{total}: {what}", file=sys.stderr, flush=True)
    remove_others(kept)


if __name__ == "__main__":
    main()
