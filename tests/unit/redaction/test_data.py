"""Structured answers: every text in them, JSON in texts, and fields whose names say what they hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.redaction.data import made_visible, redacted
from gns3server_copilot.redaction.placeholders import placeholder

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


def test_every_text_of_an_answer_is_looked_at():
    answer = {
        "success": True,
        "data": [
            {"id": "1", "name": "R1", "result": "hostname R1\nenable password cisco\n", "lines": ["key-string abc"]}
        ],
        "metadata": {"note": "\x1b[1mno\x00thing"},
    }
    changed = redacted(answer)
    (item,) = changed["data"]
    assert item["result"] == f"hostname R1\nenable password {placeholder('cisco')}\n"
    assert item["lines"] == [f"key-string {placeholder('abc')}"]
    assert changed["metadata"]["note"] == "nothing"
    assert answer["data"][0]["lines"] == ["key-string abc"]
    assert redacted(changed) == changed


def test_json_in_a_text_is_read_so_that_a_secret_ends_where_it_ends():
    text = json.dumps({"show run": "enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0\nhostname R1"})
    assert json.loads(redacted(text)) == {
        "show run": f"enable secret 5 {placeholder('$1$mERr$hx5rVt7rPNoS4wqbXKX7m0')}\nhostname R1"
    }
    untouched = '{"a":  [1, 2.50, "hostname R1"]}'
    assert redacted(untouched) == untouched


@pytest.mark.parametrize("name", ["password", "enable_password", "api_key", "privateKey", "private_key", "community"])
def test_a_field_that_is_called_so_is_hidden(name):
    assert redacted({name: "x"}) == {name: placeholder("x")}
    assert redacted({name: ""}) == {name: ""}
    assert redacted({name: None}) == {name: None}


@pytest.mark.parametrize("name", ["password_set", "key", "name", "community_list", "secrets_dir"])
def test_other_fields_are_not(name):
    assert redacted({name: "x"}) == {name: "x"}


def test_without_redaction_only_what_nobody_sees_goes():
    assert made_visible({"a": ["enable password cisco\x00"]}) == {"a": ["enable password cisco"]}


@pytest.mark.parametrize(
    "text", ["[" * 5000 + "]" * 5000, "{not json}", '{"a": NaN}', "[" * 400 + '"enable password x"' + "]" * 400]
)
def test_strange_json_is_only_text(text):
    redacted(text)


@given(json_values | st.text())
def test_data_keeps_its_shape(value):
    changed = redacted(value)
    assert type(changed) is type(value)
    json.dumps(changed)
