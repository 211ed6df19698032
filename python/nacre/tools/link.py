"""Joins variants of kernels that `nacre.tools.compile` made to one C function for each kernel, which chooses among them.

    python -m nacre.tools.link add.*.h -o add
    cc main.c add.c add.*.c add.*.o nacre_kernel.c -lm -lpthread

For a kernel `add` the header add.h declares

    nacre_result add(..., int algo_id);     one of the algorithms, which differ in their constants and num_warps, num_stages
    nacre_result add_default(...);          the first of them
    int add_get_num_algos(void);

Functions of kernels for a GPU have a stream as their first parameter. Within an algorithm the variant is chosen that makes the most of what is known of the arguments: divisible by 16, equal to 1.
Where none of them takes the arguments the result is NACRE_ERROR_INVALID_VALUE, and of kernels for the CPU nacre_error_text() says why.
"""

import argparse
import json
import sys
from pathlib import Path

_DIRECTIVE = "// nacre-link: "
_NOT_OF_KERNELS = ("nacre_kernel.h", "nacre_cuda.h")  # nacre.tools.compile puts them beside the kernels' headers


class LinkerError(Exception):
    """Headers that cannot be linked."""


class Variant:
    """One compiled variant of a kernel, as its header describes it."""

    def __init__(self, description):
        self.name = description["name"]
        self.function = description["function"]
        self.algorithm = f"{self.name}_{description['algorithm']}"
        self.takes_stream = description["takes_stream"]
        self.takes_grid = description["takes_grid"]
        self.parameters = description["parameters"]

    @property
    def hints(self):
        return sum(parameter["hint"] != 0 for parameter in self.parameters)

    def declarations(self, is_full):
        """The parameters as C writes them; without `is_full` those that the variant's own function has."""
        parts = ["void *stream"] if self.takes_stream else []
        parts += ["uint32_t grid_x", "uint32_t grid_y", "uint32_t grid_z"] if self.takes_grid else []
        for parameter in self._taken(is_full):
            kind = parameter["type"]
            parts.append(kind + ("" if kind.endswith("*") else " ") + parameter["name"])
        return parts

    def names(self, is_full):
        names = (["stream"] if self.takes_stream else []) + (["grid_x", "grid_y", "grid_z"] if self.takes_grid else [])
        return names + [p["name"] for p in self._taken(is_full)]

    def _taken(self, is_full):
        return [parameter for parameter in self.parameters if is_full or parameter["hint"] != 1]

    def condition(self):
        tests = {16: "(uintptr_t){} % 16 == 0", 1: "{} == 1"}
        parts = [tests[p["hint"]].format(p["name"]) for p in self.parameters if p["hint"]]
        return " && ".join(parts)

    def demands(self):
        """The condition in words."""
        parts = []
        for hint, words in ((16, "must be divisible by 16"), (1, "must be 1")):
            names = [f"`{p['name']}`" for p in self.parameters if p["hint"] == hint]
            parts += [f"{', '.join(names)} {words}"] if names else []
        return ", ".join(parts)

    def refusal(self, text):
        """The statement that returns NACRE_ERROR_INVALID_VALUE and says why, where that can be asked for."""
        return "return NACRE_ERROR_INVALID_VALUE;" if self.takes_stream else f'return nacre_invalid_value("{text}");'


def read_variants(headers):
    """The variants that headers describe."""
    variants = []
    for header in headers:
        found = [line for line in Path(header).read_text().splitlines() if line.startswith(_DIRECTIVE)]
        if not found:
            raise LinkerError(f"{header} is not a header that nacre.tools.compile wrote")
        variants += [Variant(json.loads(line.removeprefix(_DIRECTIVE))) for line in found]
    return variants


def _by_kernel(variants):
    """Kernel -> algorithm -> variants, those that know the most first."""
    kernels = {}
    for variant in variants:
        algorithms = kernels.setdefault(variant.name, {})
        if algorithms:
            first = next(iter(algorithms.values()))[0]
            if first.declarations(True) != variant.declarations(True):
                raise LinkerError(
                    f"the variants of {variant.name} take different parameters: ({', '.join(first.declarations(True))}) and "
                    f"({', '.join(variant.declarations(True))})"
                )
        members = algorithms.setdefault(variant.algorithm, [])
        if any(other.function == variant.function for other in members):
            raise LinkerError(f"{variant.function} is given twice")
        members.append(variant)
    for algorithms in kernels.values():
        for members in algorithms.values():
            members.sort(key=lambda variant: -variant.hints)
    return kernels


def _dispatcher(algorithm, members, prefix):
    lines = [f"nacre_result {prefix}{algorithm}({', '.join(members[0].declarations(True)) or 'void'}) {{"]
    for variant in members:
        call = f"return {variant.function}({', '.join(variant.names(False))});"
        condition = variant.condition()
        lines.append(f"  if ({condition})\n    {call}" if condition else f"  {call}")
    if members[-1].hints:
        wanted = "; or ".join(variant.demands() for variant in members)
        lines.append("  " + members[0].refusal(f"{prefix}{members[0].name}: no variant takes these arguments: {wanted}"))
    return "\n".join([*lines, "}", ""])


def link(headers, out, prefix=""):
    """Writes `out`.h and `out`.c."""
    out = Path(out)
    headers = [header for header in headers if Path(header).name not in _NOT_OF_KERNELS]
    if not headers:
        raise LinkerError("no header of a kernel is given")
    kernels = _by_kernel(read_variants(headers))
    guard = "NACRE_LINKED_" + "".join(c if c.isalnum() else "_" for c in out.name) + "_H"
    header = [f"#ifndef {guard}", f"#define {guard}", "", '#include "nacre_kernel.h"', "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    source = [f'#include "{out.name}.h"', *(f'#include "{Path(name).name}"' for name in headers), ""]
    for name, algorithms in kernels.items():
        name = prefix + name
        first = next(iter(algorithms.values()))[0]
        declarations, names = first.declarations(True), first.names(True)
        for algorithm, members in algorithms.items():
            header.append(f"nacre_result {prefix}{algorithm}({', '.join(declarations) or 'void'});")
            source.append(_dispatcher(algorithm, members, prefix))
        header += [
            f"nacre_result {name}({', '.join([*declarations, 'int algo_id'])});",
            f"nacre_result {name}_default({', '.join(declarations) or 'void'});",
            f"int {name}_get_num_algos(void);",
            "",
        ]
        cases = [f"  case {number}:\n    return {prefix}{algorithm}({', '.join(names)});" for number, algorithm in enumerate(algorithms)]
        source += [
            f"nacre_result {name}({', '.join([*declarations, 'int algo_id'])}) {{",
            "  switch (algo_id) {",
            *cases,
            "  }",
            f"  {first.refusal(f'{name}: there is no algorithm of this number')}",
            "}",
            "",
            f"nacre_result {name}_default({', '.join(declarations) or 'void'}) {{",
            f"  return {name}({', '.join([*names, '0'])});",
            "}",
            "",
            f"int {name}_get_num_algos(void) {{ return {len(algorithms)}; }}",
            "",
        ]
    header += ["#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    out.with_name(out.name + ".h").write_text("\n".join(header))
    out.with_name(out.name + ".c").write_text("\n".join(source))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="link", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", help="headers of the variants")
    parser.add_argument("--out", "-o", type=Path, required=True, help="what the header and the source are called, without .h and .c")
    parser.add_argument("--prefix", default="", help="put before the names of all functions")
    args = parser.parse_args(arguments)
    try:
        link(args.headers, args.out, args.prefix)
    except (LinkerError, OSError) as error:
        print(f"link: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
