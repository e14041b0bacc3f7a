"""Completion in real shells: what is typed, and what a tab makes of it."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from linkwork import demonstration
from linkwork.cli import main
from linkwork.cli.completion import described
from linkwork.cli.parser import COMMANDS

# what is typed, and what it becomes
TYPED = {
    "linkwork ru": "linkwork run ",
    "linkwork demo three": "linkwork demo three-cylinders ",
    "linkwork run x.json --acc": "linkwork run x.json --accuracy ",
    "linkwork completion z": "linkwork completion zsh ",
    "linkwork check cart": "linkwork check cart.json ",
    "linkwork view cart.json --base fr": "linkwork view cart.json --base free ",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cart.json").write_text("{}")
    return tmp_path


@pytest.fixture
def script(capsys):
    def print_script(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return print_script


def test_completion_knows_every_command_and_option(script):
    known = described()
    assert set(known) == {"", *COMMANDS}
    assert {"--for", "--accuracy", "--out", "--plot"} <= set(known["run"].words)
    assert known["run"].choices["--base"] == ["fixed", "free"]
    assert set(demonstration.GALLERY) <= set(known["demo"].words)
    for shell in ("bash", "zsh", "fish"):
        text = script(shell)
        assert all(command in text for command in COMMANDS)
        assert all(line.count("'") % 2 == 0 for line in text.splitlines())  # no text ends a quotation


@pytest.mark.parametrize("typed", TYPED)
def test_bash_completes(typed, script, folder):
    words = typed.split()
    asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _linkwork; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(
        ["bash", "-c", script("bash") + asked], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout.split() == TYPED[typed].split()[-1:]


@pytest.mark.shells
@pytest.mark.parametrize("typed", TYPED)
def test_fish_completes(typed, script, folder):
    (folder / "linkwork.fish").write_text(script("fish"))
    asked = f"source linkwork.fish; complete -C '{typed}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
    )
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == TYPED[typed].split()[-1:]


@pytest.mark.shells
@pytest.mark.parametrize("prepared", ["", "autoload -U compinit && compinit -u -d $ZDOTDIR/dump"])
@pytest.mark.parametrize("typed", TYPED)
def test_zsh_completes(typed, prepared, script, folder, tmp_path_factory):
    """Type into a real terminal: zsh completes nowhere else."""
    home = tmp_path_factory.mktemp("home")
    (home / ".zshrc").write_text(f"{prepared}\n{script('zsh')}\nPROMPT='here> '\n")
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(folder)
        place = {"ZDOTDIR": str(home), "HOME": str(home), "TERM": "dumb", "PATH": os.environ["PATH"]}
        os.execvpe("zsh", ["zsh", "-d", "-i"], place)
    try:
        assert "here> " in _heard(terminal, "here> ")
        os.write(terminal, typed.encode() + b"\t")
        rest = re.escape(TYPED[typed])
        shown = _heard(terminal, rest, without="\a")
        assert re.search(rest, shown), shown
    finally:
        os.kill(shell, signal.SIGKILL)
        os.waitpid(shell, 0)
        os.close(terminal)


def _heard(terminal, pattern, without=None, seconds=30.0):
    """Return what a terminal shows until it shows something."""
    shown, end = "", time.monotonic() + seconds
    while not re.search(pattern, shown) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
            shown = shown.replace(without, "") if without else shown
    return shown
