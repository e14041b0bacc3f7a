"""Building mechanisms by hand: parts become bodies, bodies get joints, and the whole is tried out at once.

`Editor` is all of it without a page: every edit is one entry of the mechanism's journal. `mechanic` opens the
page (`linkwork mechanic`).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.mechanic.editor import Editor
    from linkwork.mechanic.mechanic_page import MechanicViewer

__all__ = ["Editor", "mechanic"]


def __getattr__(name: str) -> Any:
    if name == "Editor":
        from linkwork.mechanic.editor import Editor

        return Editor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def mechanic(editor: "Editor", **where: Any) -> "MechanicViewer":
    """Return the page on which a mechanism is built; `where` is host, port and expose, as in `show`."""
    from linkwork.mechanic.mechanic_page import MechanicViewer

    return MechanicViewer(editor, **where)
