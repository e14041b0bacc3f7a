"""How Numba compiles functions that only native code calls: as parts, linked and optimised in their entry.

Numba by itself optimises every function together with all that it calls and makes machine code of it, though
only the entry's is ever run; for the loop that took longer than all else together. And some passes over a
function are for what ours do not have: closures, array expressions, literal types.

This reaches into Numba, which `pyproject.toml` allows for the releases that it was tested with.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

_NEEDLESS = {
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "RewriteDynamicRaises",
    "WithLifting",
}


class Part(JITCodeLibrary):
    """The code of a function as the front end made it, waiting to be linked; nothing of it is loaded."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # may come by several ways; may go once it is inlined
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the code of this function and of all that it calls."""
        if self._shared_module is None:
            whole = self._final_module.clone()
            known: set[Any] = {self}
            waiting: list[Any] = [self]
            while waiting:
                for library in waiting.pop()._linking_libraries:
                    if library in known:
                        continue
                    known.add(library)
                    if isinstance(library, Part):
                        waiting.append(library)
                        module = library._final_module
                    else:
                        module = library._get_module_for_linking()
                    whole.link_in(module, preserve=True)
            self._shared_module = whole
        return self._shared_module

    # What Numba asks of a function that was loaded: where it is, and to connect it with an environment.

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        pass


class PartCompiler(Compiler):
    """Numba's compiler, into a part, without the needless passes."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        super().__init__(typing, target, library or Part(target.codegen(), "part"), *rest)

    def define_pipelines(self) -> list[PassManager]:
        kept = PassManager("part")
        for whole in super().define_pipelines():
            kept.passes += [(each, why) for each, why in whole.passes if each.__name__ not in _NEEDLESS]
        kept.finalize()
        return [kept]


class _Apart(Part):
    """A part that stays a function of its own: large, and called from several places."""

    def finalize(self) -> None:
        super().finalize()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("noinline")


class _Within(Part):
    """A part that is copied into whatever calls it."""

    def finalize(self) -> None:
        super().finalize()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("alwaysinline")


class WithinCompiler(PartCompiler):
    """Numba's compiler, into a part that is copied into what calls it."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        super().__init__(typing, target, library or _Within(target.codegen(), "part"), *rest)


class ApartCompiler(PartCompiler):
    """Numba's compiler, into a part that is not copied into what calls it."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        super().__init__(typing, target, library or _Apart(target.codegen(), "part"), *rest)
