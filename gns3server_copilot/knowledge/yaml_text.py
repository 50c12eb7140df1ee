"""Reads YAML that people write by hand: plain data alone, every mistake with its line.

Two habits of YAML 1.1 that bite authors of command lists are left out: `no`, `on` and `yes` are words and not truth
values, and `12:30` is not a number of base 60. Anchors are refused, so that a small file stays small in memory.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from gns3server_copilot.knowledge.problems import WrongFileError

DEEPEST = 30

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """The safe loader with the resolvers of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 — PyYAML's own attribute, filled below


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class YamlText:
    """A parsed text: its data, and the line on which each part of it stands."""

    def __init__(self, text: str) -> None:
        loader = _Loader(text)
        try:
            self._root = loader.get_single_node()
            if self._root is None:
                raise WrongFileError("the file is empty")
            _check(self._root)
            self.data: Any = loader.construct_document(self._root)
        except yaml.MarkedYAMLError as error:
            raise WrongFileError(_reason(error), _line(error.problem_mark or error.context_mark)) from None
        except yaml.YAMLError as error:  # a character that YAML does not allow
            raise WrongFileError(str(error).partition("\n")[0]) from None
        except (ValueError, LookupError, TypeError, RecursionError) as error:  # of a value that its tag does not fit
            raise WrongFileError(f"it cannot be read as YAML: {error}") from None
        finally:
            loader.dispose()

    def line_of(self, path: tuple[int | str, ...]) -> int:
        """Give the line of the part at this path of keys and positions, or of the last part of it that exists."""
        node, line = self._root, _line(self._root.start_mark)
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            node, line = found
        return line


def _line(mark: Any) -> int:
    return 0 if mark is None else int(mark.line) + 1


def _reason(error: yaml.MarkedYAMLError) -> str:
    return f"not valid YAML: {' '.join(part for part in (error.context, error.problem) if part)}"


def _child(node: Any, step: int | str) -> tuple[Any, int] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return value, _line(key.start_mark)
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], _line(node.value[step].start_mark)
    return None


def _check(root: Any) -> None:
    """Refuse what data files have no need of: keys given twice, keys that are no text, anchors, great depth."""
    seen: set[int] = set()
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        line = _line(node.start_mark)
        if id(node) in seen:
            raise WrongFileError("anchors and aliases (& and *) cannot be used here", line)
        seen.add(id(node))
        if depth > DEEPEST:
            raise WrongFileError("it is nested too deeply", line)
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                key_line = _line(key.start_mark)
                if not isinstance(key, yaml.ScalarNode):
                    raise WrongFileError("a key has to be a plain text", key_line)
                if key.value in keys:
                    raise WrongFileError(f"the key {key.value} is given twice", key_line)
                keys.add(key.value)
                waiting.append((value, depth + 1))
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend((value, depth + 1) for value in node.value)
