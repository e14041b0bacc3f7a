"""Sphinx configuration: MyST pages, and the reference taken from the docstrings."""

import re

import linkwork

project = "Linkwork"
author = "Linkwork contributors"
copyright = f"2026, {author}"
version = release = linkwork.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["style"]
html_css_files = ["tables.css"]
html_title = f"Linkwork {release}"

default_role = "code"  # docstrings put code between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"


def plain_text(lines: list[str]) -> list[str]:
    """Return a docstring as reStructuredText that shows it as it stands.

    Docstrings are plain text: indented lines are formulas, and the signs of mathematics mean themselves.
    """
    out: list[str] = []
    literal = doctest = False
    for line in lines:
        indented = line.startswith("    ") and not doctest
        if line.startswith(">>>"):
            if not doctest:
                out.append("")
            doctest = True
        elif not line.strip():
            doctest = False
        if indented and not literal:
            out += ["", "::", ""]
        elif literal and line.strip() and not indented:
            out.append("")
        literal = indented or (literal and not line.strip())
        out.append(line if literal or doctest else escaped(line))
    return out


def escaped(line: str) -> str:
    """Escape, outside `code`, what reStructuredText would take for markup; keep a leading bullet."""
    bullet, text = re.fullmatch(r"(\s*(?:[*-] )?)(.*)", line).groups()
    parts = re.split(r"(`+[^`]+`+)", text)
    parts[::2] = [re.sub(r"([\\*|`]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return bullet + "".join(parts)


def take_docstring(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = plain_text(lines)


def setup(app) -> None:
    app.connect("autodoc-process-docstring", take_docstring)
