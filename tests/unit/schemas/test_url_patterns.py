"""Which URLs a pattern means."""

from __future__ import annotations

import pytest

from gns3server_copilot.schemas.url_patterns import UrlPattern, parse_patterns


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("*", "http://10.0.0.1:11434/v1?x=1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://API.OpenAI.com:443"),
        ("https://api.openai.com", "https://api.openai.com./v1"),
        ("https://*.example.com", "https://a.b.example.com/v1"),
        ("http://10.0.0.5:*", "http://10.0.0.5:11434"),
        ("http://10.0.0.*:8000", "http://10.0.0.77:8000/v1"),
        ("*://lab.example", "http://lab.example"),
        ("https://h/v1", "https://h/v1/"),
        ("https://h/v1/", "https://h/v1/models"),
        ("https://h/*/v1", "https://h/openai/v1"),
        ("http://[::1]:8000", "http://[::1]:8000/v1"),
    ],
)
def test_what_matches(pattern: str, url: str) -> None:
    assert UrlPattern.parse(pattern).matches(url)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("https://api.openai.com", "http://api.openai.com"),
        ("https://api.openai.com", "https://api.openai.com:8443"),
        ("https://api.openai.com", "https://api.openai.com.evil.example"),
        ("https://*.example.com", "https://evil.example/x.example.com"),
        ("https://*.example.com", "https://evil.example?.example.com"),
        ("https://*.example.com", "https://example.com"),
        ("http://10.0.0.5", "http://10.0.0.55"),
        ("https://h/v1", "https://h/v10"),
        ("https://h/v1", "https://h/"),
        ("https://h/v1", "https://h/v1/%2e%2e/admin"),
        ("https://h/v1", "https://h/v1/../admin"),
    ],
)
def test_what_does_not_match(pattern: str, url: str) -> None:
    assert not UrlPattern.parse(pattern).matches(url)


@pytest.mark.parametrize("text", ["api.openai.com", "ftp://h", "https://", "https://h:port", "", " , ", "https:// h"])
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(ValueError):
        parse_patterns(text)


def test_several_stand_between_commas_or_spaces() -> None:
    assert len(parse_patterns("https://a.example, http://b.example\nhttps://c.example")) == 3
