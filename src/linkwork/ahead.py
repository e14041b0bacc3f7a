"""Native code compiled ahead: the loops, and the kernels of usual mechanisms, as objects beside the sources.

    python -m linkwork.ahead                  for this machine: what a clone does when it is set up
    python -m linkwork.ahead --for-a-wheel    for all usual targets

What is there already and up to date stays; objects of other sources are removed. Modules with missing loops
are compiled side by side in as many processes as there are processors; a process goes on with the next
module, since what several loops call is then typed and lowered only once.
"""

import argparse
import importlib
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import llvmlite.binding as llvm

from linkwork.native import object_files, passes, sources, store
from linkwork.native.loop_entry import LOOPS, Loop
from linkwork.native.target import AHEAD, Target, host

_PACKAGE = Path(__file__).parent
_LOOP = re.compile(r"^@(entry|native_linked)\(", re.MULTILINE)


def modules_with_loops() -> list[str]:
    """Return the modules that have loops, those with most sources, which take longest to compile, first."""
    files = [file for file in _PACKAGE.rglob("*.py") if _LOOP.search(file.read_text(encoding="utf-8"))]
    files.sort(key=lambda file: -sum(source.stat().st_size for source in sources.closure(file)))
    return [".".join(("linkwork", *file.relative_to(_PACKAGE).with_suffix("").parts)) for file in files]


def objects_of(module: str, targets: Sequence[Target]) -> dict[tuple[Loop, Target], Path]:
    """Return the objects of a module's loops for some targets."""
    importlib.import_module(module)
    loops = [loop for loop in LOOPS.values() if loop.function.__module__ == module]
    return {
        (loop, target): store.object_file(target, loop.object_name(target))
        for loop in loops
        for target in targets
    }


def is_missing(path: Path) -> bool:
    """Return whether there is no intact object."""
    return object_files.read(path, object_files.is_of_package) is None


def compile_loops(module: str, targets: Sequence[Target]) -> float:
    """Compile the missing objects of a module's loops for some targets; return the processor time [s]."""
    began = time.process_time()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    missing = {key: path for key, path in objects_of(module, targets).items() if is_missing(path)}
    texts = {loop: loop.build() for loop in dict.fromkeys(loop for loop, _ in missing)}
    for (loop, target), path in missing.items():
        text, meta = texts[loop]
        path.parent.mkdir(parents=True, exist_ok=True)
        object_files.write(path, meta, store.compile_text(text, passes.loops, target))
        path.chmod(0o644)
    return time.process_time() - began


def compile_kernels(target: Target) -> tuple[float, list[Path]]:
    """Compile the kernels of usual mechanisms for a target, in a process of its own.

    Return the processor time [s], and their objects.
    """
    began, folder = time.process_time(), store.AHEAD_FOLDER / target.name
    store.compile_ahead(target, folder)
    from linkwork.usual_kernels import use_all

    use_all()
    objects = [folder / f"{name}{object_files.SUFFIX}" for name in store.loaded()]
    return time.process_time() - began, objects


def compile_all(modules: Sequence[str], targets: Sequence[Target]) -> Iterator[tuple[str, float, list[Path]]]:
    """Compile loops and kernels side by side; yield what was done, its time and the objects of kernels."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        loops = {pool.submit(compile_loops, name, targets): name for name in modules}
        for future in as_completed(loops):
            yield loops[future], future.result(), []
    with ProcessPoolExecutor(os.cpu_count(), context, max_tasks_per_child=1) as pool:
        work = {pool.submit(compile_kernels, target): f"kernels for {target.name}" for target in targets}
        for future in as_completed(work):
            yield work[future], *future.result()


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
    objects = {module: objects_of(module, targets) for module in modules_with_loops()}
    kept = {path for paths in objects.values() for path in paths.values()}
    missing = [module for module, paths in objects.items() if any(map(is_missing, paths.values()))]
    total = len(missing) + len(targets)
    for count, (what, seconds, paths) in enumerate(compile_all(missing, targets), 1):
        kept.update(paths)
        print(f"native code {count}/{total}: {what}, {seconds:.1f} s", file=sys.stderr, flush=True)
    remove_others(kept)


if __name__ == "__main__":
    main()
