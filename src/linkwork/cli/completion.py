"""`linkwork completion`: what a shell needs to complete commands, options and names."""

import argparse
from dataclasses import dataclass, field
from typing import Any

from linkwork.cli.parser import Commands, add_command

SHELLS = ("bash", "zsh", "fish")
_FILES = ("json", "urdf", "lwr")
_ON_FILES = ("run", "view", "check", "convert")


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


@dataclass(frozen=True)
class Completions:
    """What can follow a command, each with its help; and what can follow some of its options."""

    words: dict[str, str]
    choices: dict[str, list[str]] = field(default_factory=dict)


def described() -> dict[str, Completions]:
    """Return what can follow every command; "" is the first word."""
    from linkwork.cli.parser import parser
    from linkwork.demonstration import GALLERY

    root = parser()
    commands = next(a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    found = {"": Completions({name: _plain(helps[name]) for name in commands.choices} | _words(root).words)}
    for name, command in commands.choices.items():
        found[name] = _words(command)
    found["demo"].words.update({name: _plain(demo.about) for name, demo in GALLERY.items()})
    return found


def _words(command: Any) -> Completions:
    words: dict[str, str] = {}
    choices: dict[str, list[str]] = {}
    for action in command._actions:
        text, listed = _plain(action.help or ""), [str(choice) for choice in action.choices or ()]
        options = [option for option in action.option_strings if option.startswith("--")]
        words |= dict.fromkeys(options, text)
        if options and listed:
            choices |= dict.fromkeys(options, listed)
        elif not action.option_strings and not isinstance(action.choices, dict):
            words |= dict.fromkeys(listed, "")
    return Completions(words, choices)


def _plain(text: str) -> str:
    return text.replace("'", "").replace("%(default)g", "1e-08").replace(":", ",")


def _bash(commands: dict[str, Completions]) -> str:
    cases = [f"    {name}) words='{' '.join(known.words)}' ;;" for name, known in commands.items() if name]
    values = {f"{name} {option}": each for name, w in commands.items() for option, each in w.choices.items()}
    chosen = [f"    '{key}') words='{' '.join(each)}'; files= ;;" for key, each in values.items()]
    lines = "\n".join
    return f"""_linkwork() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words files=yes
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(commands[""].words)}' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{lines(cases)}
  esac
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{lines(chosen)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ -z "$files" || "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _linkwork linkwork
"""


def _zsh(commands: dict[str, Completions]) -> str:
    def listed(words: dict[str, str]) -> str:
        return " ".join(f"'{word}:{text}'" for word, text in words.items())

    cases = [f"    {name}) words_here=({listed(w.words)}) ;;" for name, w in commands.items() if name]
    values = {f"{name} {option}": each for name, w in commands.items() for option, each in w.choices.items()}
    chosen = [f"    '{key}') compadd -- {' '.join(each)}; return ;;" for key, each in values.items()]
    lines = "\n".join
    return f"""#compdef linkwork
_linkwork() {{
  local -a words_here
  if (( CURRENT == 2 )); then
    words_here=({listed(commands[""].words)})
    _describe 'command' words_here
    return
  fi
  case "$words[2] $words[CURRENT-1]" in
{lines(chosen)}
  esac
  case $words[2] in
{lines(cases)}
  esac
  _describe 'word' words_here
  _files
}}
(( $+functions[compdef] )) || {{ autoload -U compinit && compinit }}
compdef _linkwork linkwork
"""


def _fish(commands: dict[str, Completions]) -> str:
    lines = ["complete -c linkwork -f"]
    names = " ".join(name for name in commands if name)
    for name, known in commands.items():
        seen = f"__fish_seen_subcommand_from {name}" if name else f"not __fish_seen_subcommand_from {names}"
        here = f"complete -c linkwork -n '{seen}'"
        for word, text in known.words.items():
            what = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            if word in known.choices:
                what += f" -x -a '{' '.join(known.choices[word])}'"
            lines.append(f"{here} {what} -d '{text}'")
        if name in _ON_FILES:
            suffixes = " ".join(f"(__fish_complete_suffix .{suffix})" for suffix in _FILES)
            lines.append(f"{here} -a '{suffixes}'")
    return "\n".join(lines) + "\n"
