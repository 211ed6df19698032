"""Every operation of the tile dialect says what it is and shows an example."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = re.compile(r"^def Tile_(\w+)Op : \w+<\"(\w+)\"(.*?)^}", re.MULTILINE | re.DOTALL)


def operations():
    for path in sorted((ROOT / "compiler/ir/tile").glob("*.td")):
        for match in DEFINITION.finditer(path.read_text()):
            yield match.group(2), match.group(3)


def test_all_are_found():
    mnemonics = {mnemonic for mnemonic, _ in operations()}
    assert {"load", "descriptor_load", "dot", "dot_scaled", "assume", "program_id"} <= mnemonics
    assert len(mnemonics) > 45


@pytest.mark.parametrize("mnemonic, body", list(operations()), ids=lambda value: value if "\n" not in value else "")
def test_operation_is_described(mnemonic, body):
    assert "let summary = " in body
    example = re.search(r"```mlir\n(.*?)```", body, re.DOTALL)
    assert example and f"tile.{mnemonic}" in example.group(1)
