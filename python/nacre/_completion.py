"""`nacre completion`: what a shell asks for, so that Tab completes the commands and their options."""

import sys

from ._terminal import misused

USAGE = """usage: nacre completion bash|zsh|fish

  bash    source <(nacre completion bash)         in ~/.bashrc
  zsh     source <(nacre completion zsh)          in ~/.zshrc, after compinit
  fish    nacre completion fish | source          in ~/.config/fish/config.fish
"""

# The words that follow each command. Where none begins as the user's does, files are offered.
WORDS = {
    "run": ("-c", "-m", "--help"),
    "info": ("--knobs", "--markdown", "--help"),
    "compile": ("--kernel", "--signature", "--emit", "--target", "--report", "--cpu", "--arch", "--features", "--num-warps", "--num-stages", "--num-ctas", "--maxnreg", "--debug", "--no-fp-fusion", "--no-line-info",
                "--out-name", "--grid", "-o", "--help"),
    "simulate": ("--kernel", "--grid", "--block", "--cluster", "--shared", "--args", "--show", "--write", "--schedule", "--seed",
                 "--threads", "--limit", "--no-checks", "--json", "--lines", "--list", "--help"),
    "tune": ("list", "show", "clear", "export", "import", "merge", "--help"),
    "bench": ("--json", "--against", "--tolerance", "--save", "--only", "--help"),
    "cache": ("stats", "clear", "verify", "--help"),
    "warmup": ("--help",),
    "explain": ("-c", "-m", "--help"),
    "sanitize": ("asan", "tsan", "msan", "ub", "all", "--static", "--for-all", "--gpu", "--json", "--continue", "--max", "--kernel", "--help"),
    "profile": ("--name", "--backend", "--context", "--mode", "--data", "--hook", "pytest", "--help"),
    "viz": ("-o", "--text", "--json", "--kernel", "--gpu", "--lanes", "--help"),
    "completion": ("bash", "zsh", "fish", "--help"),
}  # fmt: skip
VALUES = {}  # what follows an option; filled from the targets of this build
OPTIONS = ("--help", "--version")


def _bash():
    cases = [f"    {command}) words='{' '.join(words)}' ;;" for command, words in WORDS.items()]
    values = [f"    {option}) words='{' '.join(known)}' ;;" for option, known in VALUES.items()]
    return "\n".join([
        "_nacre() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} words=''",
        "  COMPREPLY=()",
        f"  if [ \"$COMP_CWORD\" -eq 1 ]; then words='{' '.join([*WORDS, *OPTIONS])}'; else",
        '    case "${COMP_WORDS[1]}" in', *cases, "    esac",
        '    [ "${COMP_WORDS[1]}" != compile ] || case "${COMP_WORDS[COMP_CWORD-1]}" in', *values, "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o default -F _nacre nacre",
        "",
    ])  # fmt: skip


def _zsh():
    return "autoload -Uz bashcompinit && bashcompinit\n" + _bash()


def _fish():
    lines = ["complete -c nacre -n __fish_use_subcommand -f -a '" + " ".join([*WORDS, *OPTIONS]) + "'"]
    for command, words in WORDS.items():
        for word in words:
            lines.append(f"complete -c nacre -n '__fish_seen_subcommand_from {command}' -a '{word}'")
    for option, known in VALUES.items():
        lines.append(f"complete -c nacre -n '__fish_seen_subcommand_from compile' -l {option[2:]} -x -a '{' '.join(known)}'")
    return "\n".join(lines) + "\n"


def _fill_values():
    from . import _core

    stages = [name for target in _core.TARGETS.values() for name in (*target["stages"].values(), target["binary"])]
    VALUES.update({"--emit": (*dict.fromkeys(stages), "c"), "--target": tuple(_core.TARGETS)})


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def completion(arguments):
    if any(argument in ("-h", "--help") for argument in arguments):
        print(USAGE, end="")
        return 0
    if not arguments:
        print(USAGE, end="", file=sys.stderr)
        return 2
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        problem = f"there is no {'option' if arguments[0].startswith('-') else 'shell'} {arguments[0]}" if len(arguments) == 1 else "one shell at a time"
        return misused("nacre completion", problem, [*SHELLS, "--help"])
    _fill_values()
    print(SHELLS[arguments[0]](), end="")
    return 0
