"""What an MJCF file refers to, looked at before MuJoCo opens it: all stays inside the model's folders."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from linkwork.formats.markup import MAX_BYTES, MAX_NESTED, Element, parse, shorten
from linkwork.formats.regular_file import check_regular

MOST_FILES = 1000
_XML = 4  # times the bytes of an XML file are what it takes, beside those of meshes and textures
_DIRECTORIES = ("assetdir", "meshdir", "texturedir")


def checked_model(path: Path) -> tuple[Element, int]:
    """Return the root of a model whose files exist inside of its folders, and the bytes of all of them.

    A name is looked at from every folder that it may be meant from: that of the model, of the file it stands
    in, of a model that is attached; and from there in all that any `<compiler>` says, wherever it stands.
    """
    root = _parsed(path)
    home = path.absolute().parent
    files = _Files(_folder_above(home))
    models, said = [(root, home)], {""}
    while models:
        top, folder = models.pop()
        parts = [top]
        for part in parts:  # grows while it is walked
            for element in _everything(part):
                if element.tag == "include" and "file" in element.attributes:
                    parts += [_parsed(found) for found in files.find(element, "file", (folder, home), {""})]
        for part in parts:
            files.size += _XML * part.file.stat().st_size
            said |= _directories(part)
        for part in parts:
            own = part.file.absolute().parent
            for element, word in _named(part):
                for found in files.find(element, word, dict.fromkeys((folder, home, own)), said):
                    if element.tag == "model":
                        models.append((_parsed(found), found.parent))
    return root, files.size


class _Files:
    """The files that a model may open, all inside one folder."""

    def __init__(self, above: Path) -> None:
        self.above = above
        self.seen: dict[Path, str] = {}  # and the tag that named them
        self.size = 0  # bytes, of every file as often as it is named

    def find(self, element: Element, word: str, folders: Iterable[Path], said: set[str]) -> list[Path]:
        """Return the new files that an attribute may mean; refuse those outside, and that there is none."""
        name = element.attributes[word]
        if "\0" in name:
            raise element.error(f"{word}: a zero in a path; leave it out")
        places = {Path(os.path.realpath(folder / where / name)) for folder in folders for where in said}
        there = sorted(place for place in places if place.exists())
        outside = [place for place in there or places if not place.is_relative_to(self.above)]
        if outside:
            raise element.error(f"{word}={shorten(name)} leads out of {self.above}; keep files inside it")
        if not there:
            raise element.error(f"{word}={shorten(name)}: No such file or directory; give one that is there")
        new = []
        for found in there:
            check_regular(found, MAX_BYTES * 16)
            self.size += found.stat().st_size
            if element.tag == "include" and self.seen.get(found) == "include":
                raise element.error(f"{word}={shorten(name)} is included twice; once is enough")
            if self.seen.get(found) != element.tag:
                new.append(found)
            self.seen[found] = element.tag
            if len(self.seen) > MOST_FILES:
                raise element.error(f"more than {MOST_FILES} files; no model needs them")
        return new


def _parsed(path: Path) -> Element:
    root = parse(path, declared=False, deepest=MAX_NESTED)  # MuJoCo takes all for UTF-8
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


def _directories(root: Element) -> set[str]:
    """Return the folders that a file says assets are in."""
    found = set()
    for compiler in root.each("compiler"):
        if compiler.attributes.get("strippath") == "true":
            raise compiler.error('strippath="true" hides where files are; leave it out')
        found |= {compiler.attributes[word] for word in _DIRECTORIES if word in compiler.attributes}
    return found


def _named(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield the elements that name files, but for those that are included, and in which attributes."""
    for element in _everything(root):
        if element.tag != "include":
            for word, name in element.attributes.items():
                if word.startswith("file") and name:  # of a cube map, every side has its own
                    yield element, word
