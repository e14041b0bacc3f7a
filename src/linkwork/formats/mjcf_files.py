"""What an MJCF file refers to, looked at before MuJoCo opens it: all stays inside the model's folders."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.markup import MAX_BYTES, Element, parse, shorten
from linkwork.formats.regular_file import check_regular

MOST_FILES = 1000
MOST_COPIES = 10_000  # that <replicate>, <composite> and <flexcomp> may ask for
MOST_PIXELS = 10**8  # of a built-in texture, or points of a height field
_SIZES = {"texture": ("width", "height"), "hfield": ("nrow", "ncol")}


def checked_model(path: Path) -> Element:
    """Return the root of a model whose files exist inside of its folders and are of bounded size."""
    root = _parsed(path)
    above = _folder_above(path.absolute().parent)
    seen: dict[Path, None] = {}
    stack = [root]
    while stack:
        element = stack.pop()
        _check_sizes(element)
        for child, folder in _files(element, path.absolute().parent):
            found = Path(os.path.realpath(folder / child.attributes["file"]))
            if not found.is_relative_to(above):
                raise child.error(
                    f"file={shorten(child.attributes['file'])} leads out of {above}; keep files inside it"
                )
            if found in seen and child.tag == "include":
                raise child.error(
                    f"file={shorten(child.attributes['file'])} is included twice; once is enough"
                )
            seen[found] = None
            if len(seen) > MOST_FILES:
                raise child.error(f"more than {MOST_FILES} files; no model needs them")
            try:
                check_regular(found, MAX_BYTES * 16)
            except OSError as problem:
                raise child.error(
                    f"file={shorten(child.attributes['file'])}: {problem.strerror}; give one that is there"
                ) from None
            if child.tag in ("include", "model"):
                stack.append(_parsed(found))
    return root


def _parsed(path: Path) -> Element:
    root = parse(path)
    if root.tag not in ("mujoco", "mujocoinclude"):
        raise root.error(f"the root is <{root.tag[:60]}>; an MJCF file has <mujoco>")
    return root


def _folder_above(folder: Path) -> Path:
    """Return the folder that all files are inside of: one above the model, where assets are often kept."""
    real = Path(os.path.realpath(folder))
    return real.parent if real.parent != real.parent.parent else real


def _everything(root: Element) -> Iterator[Element]:
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack.extend(element.children)


def _files(root: Element, folder: Path) -> Iterator[tuple[Element, Path]]:
    """Yield the elements that name a file, and the folder that it is meant from."""
    folders = {"mesh": "", "texture": "", "hfield": "", "skin": ""}
    for compiler in root.each("compiler"):
        for word, kinds in (
            ("assetdir", folders),
            ("meshdir", ("mesh", "skin", "hfield")),
            ("texturedir", ("texture",)),
        ):
            if word in compiler.attributes:
                folders |= dict.fromkeys(kinds, compiler.attributes[word])
        if compiler.attributes.get("strippath") == "true":
            raise compiler.error('strippath="true" hides where files are; leave it out')
    for element in _everything(root):
        names = [word for word in element.attributes if word.startswith("file")]
        for word in names:
            if "\0" in element.attributes[word]:
                raise element.error(f"{word}: a zero in a path; leave it out")
            if word != "file":  # the sides of a cube map
                side = Element(
                    element.file, element.line, element.tag, {"file": element.attributes[word]}, element
                )
                yield side, folder / folders.get(element.tag, "")
            elif element.attributes[word]:
                yield element, folder / folders.get(element.tag, "")


def _check_sizes(root: Element) -> None:
    """Refuse what would ask MuJoCo for more memory, or bodies, than any model has."""
    for element in _everything(root):
        words = element.attributes.get("count", "")
        if words and element.tag in ("replicate", "composite", "flexcomp"):
            numbers = [element.number("count")] if len(words.split()) == 1 else _three(element, words)
            copies = math.prod(numbers)
            outer = element.parent
            while outer is not None:
                if outer.tag == "replicate" and "count" in outer.attributes:
                    copies *= outer.number("count")
                outer = outer.parent
            if copies > MOST_COPIES:
                raise element.error(
                    f"count={shorten(words)} makes {copies:g} copies; allowed are {MOST_COPIES}"
                )
        sides = [element.number(word) for word in _SIZES.get(element.tag, ()) if word in element.attributes]
        if math.prod(sides) > MOST_PIXELS:
            raise element.error(
                f"{' x '.join(f'{side:g}' for side in sides)} points; allowed are {MOST_PIXELS}"
            )


def _three(element: Element, words: str) -> list[float]:
    return list(element.numbers("count", min(len(words.split()), 3)))


def missing_extra(path: Path) -> FormatError:
    """Return the error that says how to read such files."""
    return FormatError(
        f"{path}: MuJoCo's own files are read with MuJoCo, which is not installed; pip install "
        f"'linkwork[mjcf]'"
    )
