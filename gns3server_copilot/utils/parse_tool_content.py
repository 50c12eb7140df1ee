"""The Python data that a tool's text holds."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from gns3server_copilot.utils.plain_data import plain, put

#: Longer texts are not tried as Python literals: a syntax tree takes a hundred times the memory of its text.
MAX_LITERAL_LENGTH = 1_000_000

#: How a Python literal begins, or the whole of a simple one. Other texts are not shown to Python's parser, which would
#: print warnings about them to the server's log.
_LITERAL = re.compile(r"""\s*(?:[\[({'"]|[bBuUrR]{1,2}['"]|(?:None|True|False|[-+]?\d[\da-fA-FxXoO_.jJ+-]*)\s*$)""")


def parse_tool_content(content: object) -> Any:
    """What a tool's answer says as Python data; never raises.

    Text is read as JSON, then as a Python literal (JSON first: `true` and `null` are not names); text that is neither
    becomes `{"raw": text without surrounding blanks}`. None and blank text give `{}`. Data is returned as it is.
    """
    if content is None:
        return {}
    if issubclass(type(content), (dict, list, bool, int, float)):
        return content
    text = plain(content)
    if not isinstance(text, str):
        return text
    if not text.strip():
        return {}
    try:
        return read_text(text)
    except ValueError:
        return {"raw": text.strip()}


def read_text(text: str) -> Any:
    """The data of a JSON text or of a Python literal. Raises ValueError for any other text."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        pass
    if len(text) > MAX_LITERAL_LENGTH or not _LITERAL.match(text):
        raise ValueError("not a Python literal, or too long for one")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        if any(_repeats_a_key(node) for node in ast.walk(tree)):
            raise ValueError("one key twice: taking it apart would lose a value")
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("neither JSON nor a Python literal") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. The last of several equal keys keeps the name, as usual; the others are kept beside it."""
    result = dict(pairs)
    if len(result) < len(pairs):
        result = {}
        for key, value in reversed(pairs):
            put(result, key, value)
    return result


def _repeats_a_key(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    keys = [ast.dump(key) for key in node.keys if key is not None]
    return len(set(keys)) < len(keys)
