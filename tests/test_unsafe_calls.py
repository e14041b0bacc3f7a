"""Calls that turn data into programs, or arithmetic into guesses, do not occur in the package."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "linkwork"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "yaml", "pyassimp"}
NAMES = {"eval", "exec", "compile", "sympify", "__import__"}
ATTRIBUTES = {
    ("yaml", "load"),
    ("os", "system"),
    ("os", "popen"),
    ("numpy", "fromregex"),
    ("sympy", "sympify"),
}
SUSPICIOUS = re.compile(
    "|".join((*MODULES, *NAMES, "load", "system", "popen", "fastmath", "shell", "parallel"))
)
# What is allowed, by file: exec of our own text, written by our own code, never of a file's.
ALLOWED = {"contact/shape_kinds.py": {"exec"}}


def unsafe(tree: ast.AST) -> list[tuple[int, str]]:
    """List lines and names of unsafe calls."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, each.name) for each in node.names if each.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append((node.lineno, str(node.module)))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in NAMES:
                found.append((node.lineno, node.func.id))
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                pair = (node.func.value.id, node.func.attr)
                if pair in ATTRIBUTES or node.func.attr == "sympify":
                    found.append((node.lineno, ".".join(pair)))
            for keyword in node.keywords:
                on = not (isinstance(keyword.value, ast.Constant) and keyword.value.value in (False, None))
                if keyword.arg in ("allow_pickle", "fastmath", "shell", "parallel") and on:
                    found.append((node.lineno, f"{keyword.arg}="))
    return found


def test_there_are_no_unsafe_calls():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        for line, what in unsafe(ast.parse(text)) if SUSPICIOUS.search(text) else ():
            if what not in ALLOWED.get(name, set()):
                found.append(f"{name}:{line}: {what}")
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "eval('1')",
        "exec(x)",
        "np.load(f, allow_pickle=True)",
        "yaml.load(f)",
        "jit(fastmath=True)",
        "subprocess.run(x, shell=True)",
        "sympy.sympify(x)",
    ],
)
def test_the_gate_sees(text):
    assert unsafe(ast.parse(text))
