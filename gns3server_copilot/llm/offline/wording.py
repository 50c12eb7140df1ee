"""Tool results in words and tables. Everything in them is data from the lab and shown as such."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gns3server_copilot.llm.offline.conversation import Result
from gns3server_copilot.llm.offline.lab import counted, listed
from gns3server_copilot.llm.offline.markdown import block, inline, table

#: Lists in a cell are shown up to this many entries.
MAX_IN_CELL = 8

#: Columns that no reader needs: ids (also by ending), places on the drawing, what is long or told by the name.
LEFT_OUT = frozenset({"id", "x", "y", "ends", "usage", "default_name_format"})
#: What tells of a console: `telnet 5000`.
CONSOLE = frozenset({"type", "host", "port"})
#: Lists of records that are short enough for a cell.
IN_CELLS = frozenset({"ports", "ends"})
#: A column of these alone tells nothing.
NOTHING: tuple[Any, ...] = (None, "", [], {}, False, "unknown")

#: What a tool does to its items: the word for success, and what the items are.
DEEDS = {
    "get_gns3_templates": ("Found", "template"),
    "create_gns3_node": ("Created", "node"),
    "create_gns3_link": ("Connected", "link"),
    "start_gns3_node": ("Started", "node"),
    "stop_gns3_node": ("Stopped", "node"),
    "suspend_gns3_node": ("Suspended", "node"),
    "update_gns3_node_name": ("Renamed", "node"),
    "execute_multiple_device_commands": ("Asked", "device"),
    "execute_vpcs_commands": ("Asked", "device"),
    "manage_gns3_packet_filter": ("Changed", "link"),
    "gns3_topology_reader": ("Found", "entry"),
}
OTHER_DEED = ("Done for", "item")


def results_in_words(results: Iterable[Result]) -> str:
    """Give what the tool calls did."""
    return "\n\n".join(_result(result) for result in results)


def succeeded(result: Result) -> bool:
    """Tell whether a call did all that it was asked to."""
    response = _response(result)
    return response is not None and response["success"]


def _result(result: Result) -> str:
    response = _response(result)
    if response is None:
        return f"The tool `{result.tool}` answered:\n\n{block(result.text)}"
    if response.get("error"):
        return f"That did not work: {inline(response['error'])}"
    items = [item for item in response["data"] if isinstance(item, dict)]
    done = [item for item in items if item.get("status") == "success"]
    failed = [item for item in items if item.get("status") != "success"]
    deed, noun = DEEDS.get(result.tool, OTHER_DEED)
    parts = []
    if not items:
        parts.append(f"There is no {noun} that fits." if noun == "template" else "There was nothing to do.")
    if done:
        kinds = _by_kind(done, noun)
        what = listed(counted(len(alike), kind) for kind, alike in kinds.items())
        parts.append(f"{deed} {what}{f' of {len(items)}' if failed else ''}.")
        for alike in kinds.values():
            parts += _details(alike)
    if failed:
        reasons = Counter(f"- {_title(item)}: {inline(item.get('error', 'no reason given'))}" for item in failed)
        parts.append(f"{counted(len(failed), noun)} failed:")
        parts.append("\n".join(f"{why} ({times} times)" if times > 1 else why for why, times in reasons.items()))
    return "\n\n".join(parts)


def _by_kind(items: Iterable[dict[str, Any]], usual: str) -> dict[str, list[dict[str, Any]]]:
    """Give the items by the kind that they name; the topology tool gives nodes, links and notes in one answer."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        kinds.setdefault(inline(item.get("kind", usual)), []).append(item)
    return kinds


def _response(result: Result) -> dict[str, Any] | None:
    try:
        response = json.loads(result.text)
    except (ValueError, RecursionError):
        return None
    usable = isinstance(response, dict) and isinstance(response.get("success"), bool)
    return response if usable and isinstance(response.get("data"), list) else None


def _details(items: Sequence[dict[str, Any]]) -> list[str]:
    """Give the results of successful items: one table when they are all alike, else each by itself."""
    values = [_parsed(item.get("result", "")) for item in items]
    if all(isinstance(value, dict) and not (_tables_in(value) or _texts_in(value)) for value in values):
        named = [{"name": item.get("name", ""), **value} for item, value in zip(items, values, strict=True)]
        return [_record_table(named)]
    if all(isinstance(value, str) and "\n" not in value.strip() for value in values):
        lines = [f"- {_title(item)}: {inline(text) or '(no output)'}" for item, text in zip(items, values, strict=True)]
        return ["\n".join(lines)]
    parts = []
    for item, value in zip(items, values, strict=True):
        parts += [f"**{_title(item)}**", *_value(value)]
    return parts


def _value(value: Any) -> list[str]:
    if isinstance(value, str):
        return [block(value)] if value.strip() else ["(no output)"]
    if isinstance(value, dict):
        tables, texts = _tables_in(value), _texts_in(value)
        facts = {name: inner for name, inner in value.items() if name not in tables | texts}
        lines = [f"- {inline(name)}: {inline(_cell(inner))}" for name, inner in facts.items()]
        parts = ["\n".join(lines)] if lines else []
        for name, text in texts.items():
            parts += [f"{inline(name).capitalize()}:", block(text)]
        for name, rows in tables.items():
            parts += [f"{inline(name).capitalize()}:", _record_table(rows)]
        return parts or ["(no output)"]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        if any(_texts_in(row) for row in value):
            return [part for row in value for part in _value(row)]
        return [_record_table(value)]
    return [block(json.dumps(value, ensure_ascii=False))]


def _tables_in(value: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Give the members that are lists of records with more to them than a name."""
    return {
        name: inner
        for name, inner in value.items()
        if isinstance(inner, list)
        and inner
        and all(isinstance(row, dict) for row in inner)
        and any(len(row) > 1 for row in inner)
        and name not in IN_CELLS
    }


def _texts_in(value: Mapping[str, Any]) -> dict[str, str]:
    """Give the members that are texts of several lines."""
    return {name: inner for name, inner in value.items() if isinstance(inner, str) and "\n" in inner.strip()}


def _record_table(records: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for record in records for name in record if not _is_left_out(name)))
    filled = [name for name in columns if any(record.get(name) not in NOTHING for record in records)]
    if not filled:
        return block(json.dumps(records, ensure_ascii=False))
    heads = [inline(name.replace("_", " ")).capitalize() for name in filled]
    return table(heads, [[_cell(record.get(name, "")) for name in filled] for record in records])


def _is_left_out(name: str) -> bool:
    return name in LEFT_OUT or name.endswith("_id")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        shown = [_cell(entry) for entry in value[:MAX_IN_CELL]]
        return ", ".join(shown) + (f" and {len(value) - MAX_IN_CELL} more" if len(value) > MAX_IN_CELL else "")
    if isinstance(value, dict):
        if value.get("name"):
            return f"{value['name']} (used)" if value.get("used") is True else str(value["name"])
        if value.keys() <= CONSOLE:
            return " ".join(_cell(inner) for inner in value.values()) if value.get("type") != "none" else ""
        return ", ".join(f"{name} → {_cell(inner)}" for name, inner in value.items())
    return "" if value is None or value == "unknown" else str(value)


def _title(item: Mapping[str, Any]) -> str:
    return inline(item.get("name") or item.get("id") or "?")


def _parsed(text: Any) -> Any:
    """Give the structure in a result that is JSON text; other text as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
