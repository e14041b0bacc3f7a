"""`linkwork mechanic`: build a mechanism in the browser."""

import argparse
from pathlib import Path

from linkwork.cli.parser import Commands, add_command


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "mechanic",
        "build a mechanism from parts in the browser, and try it out",
        """
        linkwork mechanic
        linkwork mechanic crank.stl rod.stl slider.stl
        linkwork mechanic engine.json --save engine.json
        linkwork mechanic --recover
        """,
        run,
    )
    command.add_argument(
        "parts", nargs="*", help="meshes (.stl, .obj, .ply, .glb), or one mechanism (.json, .urdf)"
    )
    command.add_argument(
        "--save", metavar="FILE", help="where Ctrl+S writes: .json or .py (default: a download)"
    )
    command.add_argument(
        "--scale", type=float, help="of meshes, into metres (default: by looking at their size)"
    )
    command.add_argument("--recover", action="store_true", help="go on with what a crash has left")
    command.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: this machine)"
    )
    command.add_argument("--port", type=int, help="the port to listen on (default: a free one)")
    command.add_argument("--expose", action="store_true", help="allow a host that other machines can reach")
    command.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")


def run(options: argparse.Namespace) -> int:
    from linkwork.cli import print_error
    from linkwork.mechanic import Editor, mechanic
    from linkwork.mechanic.autosave import draft_path, drafts

    editor = Editor(autosave=draft_path())
    left = drafts()
    try:
        if options.recover and left:
            editor.open_text(left[0].read_bytes())
            left[0].unlink(missing_ok=True)
        elif left:
            print_error(
                f"a session ended without saving; linkwork mechanic --recover goes on with it ({left[0]})"
            )
        for part in options.parts:
            editor.add_file(part, scale=options.scale)
        save_to = None if options.save is None else Path(options.save)
        where = {"host": options.host, "port": options.port, "expose": options.expose}
        page = mechanic(editor, save_to=save_to, **where)
        print(f"{page.drawing.name}: {page.url}", flush=True)
        if not options.no_browser:
            page.open()
        page.wait()
    except BaseException:
        editor.close(keep_draft=editor.unsaved)
        raise
    editor.close(keep_draft=editor.unsaved)
    return 0
