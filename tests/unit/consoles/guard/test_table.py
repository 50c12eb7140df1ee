"""Every line of the tables gets the verdict that stands before it."""

from __future__ import annotations

import pytest

from gns3server_copilot.consoles.guard import Verdict, judge_config, judge_read, judge_vpcs
from tests.unit.consoles.guard.tables import FAMILIES, TABLES, Row, family_guard, rows


def judged(row: Row) -> Verdict:
    """Judge a row; of a configuration give the first refusal, else the last line's verdict."""
    guard = family_guard(row.family)
    if row.section == "config":
        verdicts = judge_config(guard, row.line)
        return next((verdict for verdict in verdicts if not verdict.allowed), verdicts[-1])
    return {"read": judge_read, "vpcs": judge_vpcs}[row.section](guard, row.line)


@pytest.mark.parametrize("family", TABLES)
def test_each_line_gets_its_verdict(family):
    wrong = [f"{row}: {verdict}" for row in rows(family) if (verdict := judged(row)).allowed != row.allowed]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", TABLES)
def test_what_is_allowed_is_sent_as_the_table_says(family):
    wrong = [
        f"{row}: {verdict.line!r}"
        for row in rows(family)
        if row.allowed and (verdict := judged(row)).allowed and verdict.line != row.sent
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", TABLES)
def test_a_refusal_says_why_and_what_to_do(family):
    for row in rows(family):
        verdict = judged(row)
        assert row.allowed == (not verdict.reason)
        assert row.allowed or (verdict.reason.endswith(".") and len(verdict.reason) < 1500), verdict
        assert verdict.reason.isprintable() and verdict.line.isprintable()


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_dangerous_somewhere_is_not_read_anywhere(family):
    allowed = [row.line for row in rows("everywhere") if judge_read(family_guard(family), row.line).allowed]
    assert allowed == []


@pytest.mark.parametrize("family", TABLES)
def test_what_would_be_sent_is_allowed_again_and_unchanged(family):
    for row in rows(family):
        if not row.allowed or "\n" in row.line:
            continue
        again = judged(Row(family, row.section, True, row.sent, row.sent))
        # a bound that was put in is not put in twice, and a menu that was entered is not entered again
        assert row.sent == "/" or (again.allowed and again.line == row.sent), row


def test_the_tables_are_large():
    assert set(TABLES) == set(FAMILIES)
    assert sum(len(rows(family)) for family in TABLES) > 2000
    assert all(len(rows(family)) >= 20 for family in TABLES)
