"""The guard's part of a family's file: what is no rule is found on loading, and an override may only tighten."""

from __future__ import annotations

import copy

import pytest
from pydantic import ValidationError

from gns3server_copilot.knowledge.guard_override import tightens
from gns3server_copilot.knowledge.schemas.guard import GuardRules
from tests.unit.consoles.guard.tables import FAMILIES, family_rules

ALL_FAMILIES = """
    cisco_ios cisco_xe cisco_xr cisco_nxos cisco_asa arista_eos juniper_junos huawei_vrp
    huawei_vrpv8 h3c_comware
    ruijie_os mikrotik_routeros frr vyos nokia_srl extreme_exos linux vpcs generic
"""


def changed(rules: GuardRules, change) -> GuardRules:
    data = copy.deepcopy(rules.model_dump())
    change(data)
    return GuardRules.model_validate(data)


def test_every_family_has_rules():
    assert set(FAMILIES) == set(ALL_FAMILIES.split())


@pytest.mark.parametrize(
    "rules",
    [
        {"alow": []},
        {"read": {"allow": ["show <thing>"]}},
        {"read": {"allow": ["show ~["]}},
        {"read": {"allow": ["show a||b"]}},
        {"read": {"filters": {"include": "anything"}}},
        {"read": {"programs": {"ping": {"options": {"count": "1 to 5"}}}}},
        {"read": {"programs": {"ping": {"stop_after": 0}}}},
        {"config": {"refuse": {"nastily": ["reload"]}}},
        {"language": "english"},
    ],
    ids=lambda rules: str(rules)[:60],
)
def test_a_mistake_is_found_on_loading(rules):
    with pytest.raises(ValidationError):
        GuardRules.model_validate(rules)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_packaged_rules_are_as_tight_as_themselves(family):
    rules = family_rules(family)
    assert tightens(rules, rules) == []


def drop_a_head(data):
    data["read"]["allow"] = data["read"]["allow"][1:]


def refuse_more(data):
    data["config"]["refuse"]["resets"] = (*data["config"]["refuse"]["resets"], "ip route")
    data["read"]["refuse"]["floods"] = (*data["read"]["refuse"]["floods"], "show running-config")


def refuse_under_another_reason(data):
    data["config"]["refuse"]["erases"] = (*data["config"]["refuse"]["erases"], *data["config"]["refuse"].pop("resets"))


def fewer_filters(data):
    data["read"]["filters"].pop("section")


def shorter_ping(data):
    data["read"]["programs"]["ping"]["options"]["repeat"] = "1-5"


def no_ping(data):
    data["read"]["programs"].pop("ping")


def shorter_traceroute(data):
    data["read"]["programs"]["traceroute"]["add"]["ttl"] = "1 5"


@pytest.mark.parametrize(
    "change",
    [drop_a_head, refuse_more, refuse_under_another_reason, fewer_filters, shorter_ping, no_ping, shorter_traceroute],
    ids=lambda change: change.__name__,
)
def test_an_override_may_tighten(change):
    rules = family_rules("cisco_ios")
    assert tightens(rules, changed(rules, change)) == []


def allow_more(data):
    data["read"]["allow"] = (*data["read"]["allow"], "clear ...")


def refuse_less(data):
    data["config"]["refuse"]["restarts"] = data["config"]["refuse"]["restarts"][1:]


def refuse_nothing_for_a_reason(data):
    data["config"]["refuse"].pop("users")


def read_refuse_less(data):
    data["read"]["refuse"].pop("files")


def more_filters(data):
    data["read"]["filters"]["tee"] = "pattern"


def wider_filter(data):
    data["read"]["filters"]["last"] = "pattern"


def longer_ping(data):
    data["read"]["programs"]["ping"]["options"]["repeat"] = "1-100"


def another_option(data):
    data["read"]["programs"]["ping"]["options"]["ingress"] = "word"


def another_program(data):
    data["read"]["programs"]["telnet"] = {"words": ["<host>"]}


def longer_traceroute(data):
    data["read"]["programs"]["traceroute"]["add"]["ttl"] = "1 30"


def no_bound(data):
    data["read"]["programs"]["traceroute"]["add"] = {}


def more_keywords(data):
    data["config"]["keywords"] = (*data["config"]["keywords"], "rel")


def fewer_negations(data):
    data["config"]["negations"] = ()


def fewer_characters(data):
    data["config"]["characters"] = ""


def more_modes(data):
    data["config"]["modes"] = (*data["config"]["modes"], "...")


def another_language(data):
    data["language"] = "shell"


def no_abbreviations(data):
    data["abbreviations"] = False


def fewer_known_commands(data):
    data["read"]["commands"] = ()


def fewer_known_pipes(data):
    data["read"]["bad_filters"] = ()


def more_comments(data):
    data["comments"] = ("!", "reload")


@pytest.mark.parametrize(
    "change",
    [
        allow_more,
        refuse_less,
        refuse_nothing_for_a_reason,
        read_refuse_less,
        more_filters,
        wider_filter,
        longer_ping,
        another_option,
        another_program,
        longer_traceroute,
        no_bound,
        more_keywords,
        fewer_negations,
        fewer_characters,
        more_modes,
        another_language,
        no_abbreviations,
        fewer_known_commands,
        fewer_known_pipes,
        more_comments,
    ],
    ids=lambda change: change.__name__,
)
def test_an_override_may_not_loosen(change):
    rules = family_rules("cisco_ios")
    reasons = tightens(rules, changed(rules, change))
    assert reasons and all(reason.startswith("guard.") for reason in reasons)


def test_an_override_may_not_loosen_what_only_other_families_have():
    def longer_wait(data):
        data["read"]["programs"]["ping"]["stop_after"] = 60

    def allow_every_line(data):
        data["config"]["allow"] = ()

    def no_needs(data):
        data["read"]["programs"]["vtysh"]["needs"] = ()

    for family, change in (("frr", longer_wait), ("generic", allow_every_line), ("linux", no_needs)):
        assert tightens(family_rules(family), changed(family_rules(family), change)), family
