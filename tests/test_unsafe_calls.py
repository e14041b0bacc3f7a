"""Calls that turn data into programs, or arithmetic into guesses, do not occur in the package."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "linkwork"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "pyassimp"}
NAMES = {"eval", "exec", "compile", "sympify", "__import__"}
ATTRIBUTES = {("os", "system"), ("os", "popen"), ("yaml", "load"), *(("builtins", name) for name in NAMES)}
METHODS = {"sympify", "fromregex"}  # of whatever they are asked
KEYWORDS = {"allow_pickle", "fastmath", "shell", "parallel"}
SUSPICIOUS = re.compile("|".join((*MODULES, *NAMES, *METHODS, *KEYWORDS, "builtins", "system", "popen")))
# What is allowed, by file: exec of our own text, written by our own code, never of a file's.
ALLOWED = {"contact/shape_kinds.py": {"exec"}}


def unsafe(tree: ast.AST) -> list[tuple[int, str]]:
    """List lines and names of what is unsafe, called or only named, so that it could be called elsewhere."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, each.name) for each in names if _root(each.name) in MODULES]
            case ast.ImportFrom(module=str(module), names=names):
                if _root(module) in MODULES:
                    found.append((node.lineno, module))
                pairs = [(module, each.name) for each in names]
                found += [
                    (node.lineno, ".".join(pair))
                    for pair in pairs
                    if pair in ATTRIBUTES or pair[1] in METHODS
                ]
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                found.append((node.lineno, name))
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (owner, name) in ATTRIBUTES:
                found.append((node.lineno, f"{owner}.{name}"))
            case ast.Attribute(attr=name) if name in METHODS:
                found.append((node.lineno, name))
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if _root(name) in MODULES:
                found.append((node.lineno, name))  # import_module("pickle")
            case ast.keyword(arg=str(name), value=value) if name in KEYWORDS and not _is_off(value):
                found.append((node.lineno, f"{name}="))
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in KEYWORDS and not _is_off(value):
                        found.append((node.lineno, f"{key.value}="))
    return found


def _root(name: str) -> str:
    return name.split(".")[0]


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, None)


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
        "import_module('pickle')",
        "eval('1')",
        "exec(x)",
        "run = exec",
        "builtins.eval('1')",
        "from builtins import exec as run",
        "from os import system",
        "os.popen(x)",
        "np.load(f, allow_pickle=True)",
        "np.load(f, **{'allow_pickle': True})",
        "yaml.load(f)",
        "jit(fastmath=True)",
        "jit(fastmath={'nnan'})",
        "subprocess.run(x, shell=True)",
        "sympy.sympify(x)",
        "from sympy import sympify",
    ],
)
def test_the_gate_sees(text):
    assert unsafe(ast.parse(text))


@pytest.mark.parametrize(
    "text", ["model.compile()", "np.load(f, allow_pickle=False)", "self.system = system"]
)
def test_the_gate_lets_pass(text):
    assert not unsafe(ast.parse(text))
