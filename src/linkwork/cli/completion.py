"""`linkwork completion`: what a shell needs to complete commands, options and names."""

import argparse
from typing import Any

from linkwork.cli.parser import Commands, add_command

SHELLS = ("bash", "zsh", "fish")
_FILES = ("json", "urdf", "lwr")


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "completion",
        "print a script by which a shell completes what is typed",
        """
        eval "$(linkwork completion bash)"                 in ~/.bashrc
        eval "$(linkwork completion zsh)"                  in ~/.zshrc
        linkwork completion fish > ~/.config/fish/completions/linkwork.fish
        """,
        run,
    )
    command.add_argument("shell", choices=SHELLS, help="which shell")


def run(options: argparse.Namespace) -> int:
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](described()), end="")
    return 0


def described() -> dict[str, dict[str, str]]:
    """Return the options and fixed words of every command, each with its help."""
    from linkwork.cli.parser import parser
    from linkwork.demo import GALLERY

    root = parser()
    commands = next(a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    found = {"": {name: _plain(helps[name]) for name in commands.choices} | _words(root)}
    for name, command in commands.choices.items():
        found[name] = _words(command)
    found["demo"] |= {name: _plain(demo.about) for name, demo in GALLERY.items()}
    return found


def _words(command: Any) -> dict[str, str]:
    words: dict[str, str] = {}
    for action in command._actions:
        text = _plain(action.help or "")
        words |= {option: text for option in action.option_strings if option.startswith("--")}
        if not action.option_strings and action.choices and not isinstance(action.choices, dict):
            words |= {str(choice): "" for choice in action.choices}
    return words


def _plain(text: str) -> str:
    return text.replace("'", "").replace("%(default)g", "1e-08").replace(":", ",")


def _bash(commands: dict[str, dict[str, str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(words)}' ;;" for name, words in commands.items() if name)
    return f"""_linkwork() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(commands[""])}' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _linkwork linkwork
"""


def _zsh(commands: dict[str, dict[str, str]]) -> str:
    def listed(words: dict[str, str]) -> str:
        return " ".join(f"'{word}:{text}'" for word, text in words.items())

    cases = "\n".join(f"    {name}) words_here=({listed(w)}) ;;" for name, w in commands.items() if name)
    return f"""#compdef linkwork
_linkwork() {{
  local -a words_here
  if (( CURRENT == 2 )); then
    words_here=({listed(commands[""])})
    _describe 'command' words_here
    return
  fi
  case $words[2] in
{cases}
  esac
  _describe 'word' words_here
  _files
}}
compdef _linkwork linkwork
"""


def _fish(commands: dict[str, dict[str, str]]) -> str:
    lines = ["complete -c linkwork -f"]
    first, names = "not __fish_seen_subcommand_from", " ".join(name for name in commands if name)
    lines += [
        f"complete -c linkwork -n '{first} {names}' -a {word} -d '{text}'"
        for word, text in commands[""].items()
        if not word.startswith("-")
    ]
    for name, words in commands.items():
        here = f"complete -c linkwork -n '__fish_seen_subcommand_from {name}'" if name else ""
        for word, text in words.items() if name else ():
            lines.append(f"{here} {f'-l {word[2:]}' if word.startswith('--') else f'-a {word}'} -d '{text}'")
        if name in ("run", "view", "check", "convert"):
            suffixes = " ".join(f"(__fish_complete_suffix .{suffix})" for suffix in _FILES)
            lines.append(f"{here} -a '{suffixes}'")
    return "\n".join(lines) + "\n"
