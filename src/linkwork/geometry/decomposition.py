"""Nearly convex parts of a mesh, by CoACD (X. Wei et al., SIGGRAPH 2022)."""

from typing import TYPE_CHECKING, Any

from linkwork.geometry.hull import ConvexHull

if TYPE_CHECKING:
    from linkwork.geometry.mesh import Mesh


def convex_parts(mesh: "Mesh", threshold: float) -> tuple[ConvexHull, ...]:
    """Return convex hulls that cover a mesh; the same for the same mesh, every time."""
    if not 0.01 <= threshold <= 1.0:
        raise ValueError(f"threshold {threshold!r}; give a concavity of 0.01 (many parts) to 1 (few)")
    try:
        import coacd
    except ImportError:
        raise ImportError("convex parts need CoACD: pip install 'linkwork[convex]'") from None
    coacd.set_log_level("off")
    raw = coacd.Mesh(mesh.vertices, mesh.faces)
    mode = "off" if mesh.is_closed else "on"  # it makes what is open closed first
    parts: Any = coacd.run_coacd(raw, threshold=threshold, preprocess_mode=mode, seed=1)
    place = {"position": mesh.position, "rotation": mesh.rotation}
    return tuple(ConvexHull(points, **place) for points, _ in parts)
