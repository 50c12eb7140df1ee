"""Every line of the tables gets the verdict that stands before it."""

from __future__ import annotations

import pytest

from gns3server_copilot.consoles.guard import Verdict, judge_config, judge_read, judge_vpcs
from tests.unit.consoles.guard.tables import Row, family_guard, rows, table_names


def judged(row: Row) -> Verdict:
    guard = family_guard(row.family)
    if row.section == "config":
        verdicts = judge_config(guard, row.line)
        return next((verdict for verdict in verdicts if not verdict.allowed), verdicts[-1])
    return {"read": judge_read, "vpcs": judge_vpcs}[row.section](guard, row.line)


@pytest.mark.parametrize("family", table_names())
def test_each_line_gets_its_verdict(family):
    wrong = [f"{row}: {verdict}" for row in rows(family) if (verdict := judged(row)).allowed != row.allowed]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", table_names())
def test_what_is_allowed_is_sent_as_the_table_says(family):
    wrong = [
        f"{row}: {verdict.line!r}"
        for row in rows(family)
        if row.allowed and (verdict := judged(row)).allowed and verdict.line != row.sent
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", table_names())
def test_a_refusal_says_why_and_what_to_do(family):
    reasons = [judged(row).reason for row in rows(family) if not row.allowed]
    assert all(reason.endswith(".") and len(reason) < 1000 and reason.isprintable() for reason in reasons)


def test_the_tables_are_large():
    assert sum(len(rows(family)) for family in table_names()) >= 400
