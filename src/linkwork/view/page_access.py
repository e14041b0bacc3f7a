"""The way of a browser to the page: a file that only this user can read, and that leads on.

What stands on the command line of a browser, all users of this machine can read. So it is given the name of a
file, in which the address with its secret is.
"""

import os
import tempfile
from html import escape
from pathlib import Path

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Linkwork</title>
</head>
<body><p><a href="{url}">To the page</a></p></body>
</html>
"""


class Doorway:
    """A file, in a folder of its own, until `close()` or the end of the process."""

    def __init__(self, url: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork-")  # mode 0700
        self._path = Path(self._folder.name, "open.html")
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_PAGE.format(url=escape(url)))

    @property
    def address(self) -> str:
        """What a browser is given."""
        return self._path.as_uri()

    def close(self) -> None:
        """Remove the file."""
        self._folder.cleanup()
