"""Kinds of shapes by number, and the switches over them that are made of what the solids' own files say.

`NATIVE` lists the solids whose functions are compiled into the loops. All other convex solids with a support
function are TRACED: theirs is traced, compiled by itself, and called by its address.
"""

from typing import Any

from linkwork.geometry.box import Box
from linkwork.geometry.capsule import Capsule
from linkwork.geometry.cone import Cone
from linkwork.geometry.cylinder import Cylinder
from linkwork.geometry.ellipsoid import Ellipsoid
from linkwork.geometry.solid import Solid
from linkwork.geometry.sphere import Sphere

# Of a pair the shape of the lower number comes first. Those below PLANE have a support function.
NATIVE: tuple[type[Solid], ...] = (Sphere, Capsule, Box, Cylinder, Cone, Ellipsoid)
SPHERE, CAPSULE, BOX, CYLINDER = (NATIVE.index(kind) for kind in (Sphere, Capsule, Box, Cylinder))
CONVEX, TRACED, PLANE, HEIGHT_FIELD, MESH, POLYGON = range(len(NATIVE), len(NATIVE) + 6)

# sets of kinds, a bit for each: those with a curved surface, and the solids of revolution with straight edges
CURVED = sum(1 << k for k, kind in enumerate(NATIVE) if kind.code and kind.code.bend)
TURNED = sum(1 << k for k, kind in enumerate(NATIVE) if kind.code and kind.code.profile)


def switch(word: str, parameters: tuple[str, ...], otherwise: Any) -> Any:
    """Return the function (form, *parameters) that asks the solid of a form's kind for a word of its code.

    What is no kind of NATIVE, or does not say it, is left to `otherwise`, of the same parameters.
    """
    lines, known = [f"def {word}({', '.join(('form', *parameters))}):"], {"otherwise": otherwise}
    for number, kind in enumerate(NATIVE):
        function = getattr(kind.code, word)
        if function is not None:
            known[kind.__name__] = function
            asked = f"{kind.__name__}({', '.join(('(form.x, form.y, form.z)', *parameters))})"
            lines += [f"    if form.kind == {number}:", f"        return {asked}"]
    lines.append(f"    return otherwise({', '.join(('form', *parameters))})")
    exec("\n".join(lines), known)
    return known[word]
