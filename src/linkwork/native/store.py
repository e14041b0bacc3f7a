"""The store of native code: compile LLVM text, keep the object, load it, give out addresses.

Code has a name: a digest of all that shapes it, its sources, its key and the target. It is looked for in
memory, among the objects that came with the package (compiled ahead, see `linkwork.ahead`), and in the user's
cache, where the versions of the compiler count too; if it is nowhere, it is built. `object_files` says which
files are trusted.
"""

import functools
import hashlib
import sys
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm

from linkwork.errors import LinkworkError
from linkwork.lazy import LOCK, computed_once
from linkwork.native import object_files, passes, sources
from linkwork.native.target import Target, host

Passes = Callable[[Any, Any], None]  # of a module and a target machine
Build = Callable[[], tuple[str, Mapping[str, Any]]]  # LLVM text and meta data, which is plain JSON
Object = tuple[dict[str, Any], bytes]  # meta data and code

AHEAD_FOLDER = Path(__file__).parent / "objects"  # below it, a folder for each target
# of traced kernels
_SOURCES = (
    *("algebra", "contact", "contact_dynamics", "dynamics", "kinematics"),
    *("mechanism", "native", "trace", "tree"),
)
_loaded: dict[str, dict[str, Any]] = {}  # name -> meta, of what is in memory
_apart: WeakValueDictionary[str, "Apart"] = WeakValueDictionary()
_recent: deque["Apart"] = deque(maxlen=256)
_ahead: list[tuple[Target, Path]] = []  # at most one: for what, and where to, code is compiled ahead
_fetching = True  # whether text may have the instruction of its target that fetches
_written: dict[Path, int] = {}  # bytes that went into a folder since it was swept
_SWEEP = object_files.MOST_BYTES // 8  # of these, from one process, it is swept again


@computed_once
def _engine() -> Any:
    """Return the engine that holds all code that stays."""
    return _new_engine()


def _new_engine() -> Any:
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise LinkworkError(
            "single calls share scratch memory under the interpreter's lock; this Python has none"
        )
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), host().machine())


@functools.cache
def _machine(target: Target) -> Any:
    return target.machine()


def compile_ahead(target: Target, folder: Path) -> None:
    """From now on, compile all kernels for a target and keep them in a folder; also what exists already.

    To be called before all else in a process. What this process runs itself is compiled for its own machine.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    folder.mkdir(parents=True, exist_ok=True)
    _ahead[:] = [(target, folder)]


def loaded() -> list[str]:
    """Return the names of all code in memory."""
    return [*_loaded, *_apart]


def target() -> Target:
    """Return what kernels are compiled for."""
    return _ahead[0][0] if _ahead else host()


def lanes() -> int:
    """Return how many doubles one SIMD register holds."""
    return target().lanes


def fetch() -> str:
    """Return the instruction that fetches a cache line to write to; "" if none is known."""
    return target().fetch if _fetching else ""


@computed_once
def _of_kernels() -> bytes:
    """Digest the sources of the compiler and of the physics."""
    return sources.digest(sources.of_folders(*_SOURCES))


def digest(*key: object) -> str:
    """Return the name of a traced kernel: a digest of its key and of all that shapes kernels."""
    return name_of(_of_kernels(), target(), *key)


def name_of(*key: object) -> str:
    """Return the name of code that is shaped by nothing but this key."""
    return hashlib.sha256(repr(key).encode()).hexdigest()[:32]


def llvm_versions() -> str:
    """Return the versions of the compiler."""
    return f"llvmlite {llvmlite.__version__}, LLVM {llvm.llvm_version_info}"


def load(name: str, build: Build, optimize: bool = False) -> dict[str, Any]:
    """Make a kernel of this name available and return its meta data; built if it is neither here nor on disk.

    Kernels come as good as they get, straight from the tracer; `optimize` is for text written by hand.
    """
    work = passes.hand_written if optimize else None
    with LOCK:
        if _ahead and name not in _loaded:
            _compile_ahead(name, build, work)
        return load_here(name, build, work)


class Apart:
    """Code of one mechanism, or of one law: it is in memory for as long as somebody keeps this."""

    def __init__(self, meta: dict[str, Any], code: bytes) -> None:
        self.meta, self._engine = meta, _new_engine()
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, function: str) -> int:
        """Return the address of a function of this code."""
        with LOCK:
            return self._engine.get_function_address(function)


def load_apart(name: str, build: Build) -> Apart:
    """Make a kernel available that there may be any number of; what runs it must keep what is returned.

    Some of those that were asked for last stay at hand.
    """
    with LOCK:
        if _ahead and name not in _apart:
            _compile_ahead(name, build, None)
        code = _apart.get(name)
        if code is None:
            code = Apart(*(_found(name, llvm_versions) or _built(name, build, None, llvm_versions)))
            _apart[name] = code
        _recent.append(code)
        return code


def load_here(
    name: str,
    build: Build,
    work: Passes | None = None,
    versions: Callable[[], str] = llvm_versions,
    load_called: Callable[[Mapping[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Do the same for this machine, whatever is compiled ahead; `versions` are those of the compiler.

    `load_called` is given the meta data before the object is linked: it loads what the object calls.
    """
    with LOCK:
        if name not in _loaded:
            meta, code = _found(name, versions) or _built(name, build, work, versions)
            if load_called:
                load_called(meta)
            engine = _engine()
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            _loaded[name] = meta
        return _loaded[name]


def _found(name: str, versions: Callable[[], str]) -> Object | None:
    """Return an object for this machine from the package or from the cache, if it is there."""
    found = object_files.read(object_file(host(), name), object_files.is_of_package)
    if found or _ahead:
        return found
    path = _in_cache(name, versions)
    found = object_files.read(path) if path else None
    if path and found:
        object_files.keep(path)
    return found


def _in_cache(name: str, versions: Callable[[], str]) -> Path | None:
    folder = object_files.cache_folder()
    return folder / f"{name_of(name, versions())}{object_files.SUFFIX}" if folder else None


def _built(name: str, build: Build, work: Passes | None, versions: Callable[[], str]) -> Object:
    """Build an object for this machine, and keep it in the cache."""
    text, meta = _text_for_here(build)
    code = compile_text(text, work)
    path = _in_cache(name, versions)
    if path and not _ahead:
        if _written.get(path.parent, _SWEEP) >= _SWEEP:
            _written[path.parent] = 0
            object_files.sweep(path.parent)
        _written[path.parent] += len(code)
        object_files.write(path, meta, code)
    return dict(meta), code


def _text_for_here(build: Build) -> tuple[str, Mapping[str, Any]]:
    """Return what `build` does; if that is for another processor, without instructions this one may lack."""
    global _fetching
    _fetching = target() == host()
    try:
        return build()
    finally:
        _fetching = True


def _compile_ahead(name: str, build: Build, work: Passes | None) -> None:
    """Compile a kernel for the target that code is compiled ahead for, unless it is there."""
    target, folder = _ahead[0]
    path = folder / f"{name}{object_files.SUFFIX}"
    if not object_files.read(path, object_files.is_of_package):
        text, meta = build()
        object_files.write(path, meta, compile_text(text, work, target))
        path.chmod(0o644)


def object_file(target: Target, name: str) -> Path:
    """Return where the package has an object that was compiled ahead."""
    return AHEAD_FOLDER / target.name / f"{name}{object_files.SUFFIX}"


def compile_text(text: str, work: Passes | None = None, target: Target | None = None) -> bytes:
    """Compile LLVM text to an object, for this machine if nothing else is said."""
    target = target or host()
    module = llvm.parse_assembly(text)
    machine = _machine(target)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    if work:
        work(module, machine)
    return machine.emit_object(module)


def address(function: str) -> int:
    """Return the address of a loaded function."""
    with LOCK:
        return _engine().get_function_address(function)


def provide(symbols: Mapping[str, int]) -> None:
    """Make addresses of this process known to the code loaded from now on."""
    for name, value in symbols.items():
        llvm.add_symbol(name, value)
