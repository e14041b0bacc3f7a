"""A model in words: one line, and a page for notebooks."""

from typing import TYPE_CHECKING

from linkwork.mechanism import notebook
from linkwork.mechanism.names import kind_name

if TYPE_CHECKING:
    from linkwork.model.model import Model


def line(model: "Model") -> str:
    """Return the model in one line."""
    count = len(model.loop_names)
    loops = f", {count} loop{'s' if count > 1 else ''}" if count else ""
    form = "" if model.form == "rolled" else ", specialized"
    bodies = len(model.body_names)
    return f"Model({model.name!r}, {bodies} bodies, nq={model.nq}, nv={model.nv}{loops}{form})"


def page(model: "Model") -> str:
    """Show the model in a notebook: its numbers, and its joints in the order of the coordinates."""
    closing = f"{len(model.loop_names)}, closed by {', '.join(model.loop_names)}"
    numbers = [
        ("space", model.space),
        ("bodies", str(len(model.body_names))),
        ("positions nq", str(model.nq)),
        ("velocities nv", str(model.nv)),
        ("loops", closing if model.loop_names else "none"),
        ("loads", ", ".join(model.load_names) or "none"),
        *((("contacts", ", ".join(model.contact_names)),) if model.contact_names else ()),
        *(("note", words) for words in model.notes),
    ]
    rows = [
        (name, kind_name(model.joints[name]), body, _range(q), _range(v))
        for (name, (q, v)), body in zip(model.slices.items(), model.body_names, strict=True)
    ]
    tables = [
        notebook.table((), numbers),
        notebook.table(("joint", "", "carries", "in q", "in v"), rows),
    ]
    return notebook.page(f"Model {model.name}", tables)


def _range(part: slice) -> str:
    if part.stop - part.start <= 1:
        return str(part.start) if part.stop > part.start else "-"
    return f"{part.start} to {part.stop - 1}"
