"""The store of a model's native code."""

from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.native_program import Form
from linkwork.tree.tree import Tree

Path = tuple[int, ...]
_Key = tuple[int, int, Form, Path | None]  # identities of the algorithm and of the tree


class Kernels:
    """The kernels of one model: one per algorithm, tree, form and path, each made at first use.

    A kernel keeps its algorithm and its tree alive, so that their identities stay theirs. It compiles code
    for one mechanism, for lanes and for derivatives when it is first asked for them, in one thread (`lazy`);
    hence any thread may ask.
    """

    def __init__(self) -> None:
        self._made: dict[_Key, Kernel] = {}

    def get(self, algorithm: Algorithm, tree: Tree, form: Form, path: Path | None = None) -> Kernel:
        """Return the kernel of an algorithm on a tree, or on a path of links from its base."""
        key = id(algorithm), id(tree), form, path
        found = self._made.get(key)
        if found is None:  # of two threads that come here, both get the kernel of the first
            found = self._made.setdefault(key, Kernel(algorithm, tree, form, path))
        return found

    def __len__(self) -> int:
        return len(self._made)
