"""Terrain, a grid of heights: its points, triangles and their neighbours, and how deep a point is under it.

A cell is two triangles, cut from its corner of lowest x and y to the opposite one: the lower has the corners
(0, 0), (1, 0), (1, 1), the upper (0, 0), (1, 1), (0, 1).
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_table import COLUMNS, FIRST_HEIGHT, ROWS
from linkwork.geometry.vectors import cross, dot, sub, three, unit


@native
def cell(table, j, x, y):
    """Return the column, the row and the place within the cell of a point over a height field.

    Heights are (nx, ny) over a rectangle of size[0] by size[1] about the origin. Clipped to the field.
    """
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    u = (x / table.size[4 * j] + 0.5) * (nx - 1)
    v = (y / table.size[4 * j + 1] + 0.5) * (ny - 1)
    cx, cy = int(min(max(u, 0.0), nx - 2.0)), int(min(max(v, 0.0), ny - 2.0))
    return cx, cy, u - cx, v - cy


@native
def grid_point(table, j, cx, cy):
    """Return a point of a height field."""
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    x = table.size[4 * j] * (cx / (nx - 1.0) - 0.5)
    y = table.size[4 * j + 1] * (cy / (ny - 1.0) - 0.5)
    return x, y, table.heights[table.index[12 * j + FIRST_HEIGHT] + cx * ny + cy]


@native
def field_triangle(table, j, cx, cy, upper):
    """Return the corners of one of the two triangles of a cell, which its diagonal from low to high
    divides."""
    a, c = grid_point(table, j, cx, cy), grid_point(table, j, cx + 1, cy + 1)
    if upper == 0:
        return a, grid_point(table, j, cx + 1, cy), c
    return a, c, grid_point(table, j, cx, cy + 1)


@native
def field_depth(table, j, x):
    """Return how far a point lies below a height field (negative: above) and the normal there, in its own
    axes;
    -inf where there is no field."""
    if abs(x[0]) > 0.5 * table.size[4 * j] or abs(x[1]) > 0.5 * table.size[4 * j + 1]:
        return -1e300, (0.0, 0.0, 1.0)
    cx, cy, u, v = cell(table, j, x[0], x[1])
    p0, p1, p2 = field_triangle(table, j, cx, cy, 0 if u >= v else 1)
    n = unit(cross(sub(p1, p0), sub(p2, p0)))
    return dot(n, sub(p0, x)) / n[2], n


@native_apart
def field_across(table, j, cx, cy, upper, edge):
    """Return whether there is a triangle across an edge of a triangle of a height field, and its normal."""
    nx, ny = table.index[12 * j + ROWS], table.index[12 * j + COLUMNS]
    x, y = cx, cy
    if upper == 0 and edge < 2:
        x, y = (cx, cy - 1) if edge == 0 else (cx + 1, cy)
    elif upper == 1 and edge > 0:
        x, y = (cx, cy + 1) if edge == 1 else (cx - 1, cy)
    if x < 0 or y < 0 or x > nx - 2 or y > ny - 2:
        return False, (0.0, 0.0, 1.0)
    p0, p1, p2 = field_triangle(table, j, x, y, 1 - upper)
    return True, unit(cross(sub(p1, p0), sub(p2, p0)))


@native
def half_widths(table, i, R, margin):
    """Return the half widths of the box round a shape, in the axes of what is placed by R in its own; so much
    wider."""
    half = three(table.reach, 7 * i + 3)
    return (
        abs(R[0]) * half[0] + abs(R[3]) * half[1] + abs(R[6]) * half[2] + margin,
        abs(R[1]) * half[0] + abs(R[4]) * half[1] + abs(R[7]) * half[2] + margin,
        abs(R[2]) * half[0] + abs(R[5]) * half[1] + abs(R[8]) * half[2] + margin,
    )
