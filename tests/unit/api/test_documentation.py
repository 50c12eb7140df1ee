"""docs/developer/http-api.md names what there is: every status of an error and every kind of event."""

from __future__ import annotations

import re
from pathlib import Path

from gns3server_copilot import errors
from gns3server_copilot.schemas.chat import ChatRequest, HistoryMessage, SessionAnswer
from tests.ground.event_rules import FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "developer" / "http-api.md").read_text(encoding="utf-8")


def section(title):
    return re.split(r"\n## ", PAGE.partition(f"## {title}\n")[2])[0]


def test_every_status_of_our_errors_is_explained():
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.CopilotError)]
    first_cells = [line.split("|")[1] for line in section("Errors").splitlines() if line.startswith("| ")]
    explained = {int(status) for cell in first_cells for status in re.findall(r"\d{3}", cell)}
    assert {kind.status for kind in kinds if hasattr(kind, "status")} <= explained


def test_every_kind_of_event_is_explained_with_its_fields():
    rows = {line.split("|")[1].strip(" `"): line for line in section("Events").splitlines() if line.startswith("| `")}
    assert rows.keys() == FIELDS.keys()
    for kind, fields in FIELDS.items():
        for field in fields:
            assert f"`{field}`" in rows[kind], f"{kind} has the field {field}"


def test_every_field_of_requests_and_answers_is_named():
    for model in (ChatRequest, SessionAnswer, HistoryMessage):
        for field in model.model_fields:
            assert re.search(rf"[`\"]{field}[`\"]", PAGE), f"{model.__name__}.{field} is not on the page"
