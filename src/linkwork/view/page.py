"""The page as it is served: viser's, with our name, and the little that it lacks (`page.js`, `page.css`)."""

import gzip
import html
from functools import cache
from importlib.resources import files
from typing import Any

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cg fill='none' "
    "stroke='%231c6fb8' stroke-width='4' stroke-linecap='round'%3E%3Cpath d='M7 25 L13 8 L26 14'/%3E%3C/g%3E"
    "%3Cg fill='%23f59f00'%3E%3Ccircle cx='7' cy='25' r='4'/%3E%3Ccircle cx='13' cy='8' r='4'/%3E"
    "%3Ccircle cx='26' cy='14' r='4'/%3E%3C/g%3E%3C/svg%3E"
)


@cache
def part(name: str) -> str:
    """Return a file of ours that pages have."""
    return files("linkwork.view").joinpath(name).read_text(encoding="utf-8")


def heading(name: str, *styles: str) -> str:
    """Return what the tab of a page is called, as HTML, and how it looks: names may come from a file."""
    looks = "".join(f"\n<style>{part(f'{style}.css')}</style>" for style in styles)
    return f"<title>{html.escape(name)} · Linkwork</title>{looks}"


def dressed(page: str, name: str) -> str:
    """Return viser's page with our title and icon, and what it lacks."""
    added = f"{heading(name, 'page')}\n<script>{part('page.js')}</script>"
    start, mark, rest = page.partition("<title>Viser</title>")
    if not mark:
        return page
    before, icon, after = start.partition('href="data:image/svg+xml')
    if icon:
        start = f'{before}href="{_ICON}"{after.partition(chr(34))[2]}'
    return start + added + rest


class Wardrobe:
    """Dresses what a server answers; each form of the page once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._made: dict[bool, bytes] = {}

    def dress(self, response: Any) -> None:
        """Put our page in place of viser's in an answer that has it."""
        headers = response.headers
        if response.status_code != 200 or not headers.get("Content-Type", "").startswith("text/html"):
            return
        packed = headers.get("Content-Encoding") == "gzip"
        if packed not in self._made:
            text = (gzip.decompress(response.body) if packed else response.body).decode("utf-8")
            made = dressed(text, self._name).encode("utf-8")
            self._made[packed] = gzip.compress(made, 6) if packed else made
        response.body = self._made[packed]
        del headers["Content-Length"]
        headers["Content-Length"] = str(len(response.body))
