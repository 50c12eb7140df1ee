"""The [Copilot] section: read as gns3-server reads its own, and documented completely."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gns3server_copilot.errors import SettingsError
from gns3server_copilot.settings import Settings, load_settings

CONFIGURATION_PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def write(path: Path, text: str) -> str:
    """Write a configuration file and give its name."""
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_without_a_file_or_a_section_every_setting_has_its_default(tmp_path: Path) -> None:
    other = write(tmp_path / "gns3_server.conf", "[Server]\nport = 3080\n")
    assert load_settings([]) == load_settings([str(tmp_path / "absent"), other]) == Settings()


def test_later_files_win_setting_by_setting(tmp_path: Path) -> None:
    first = write(tmp_path / "first", "[Copilot]\ntool_rounds = 10\nmax_turns = 7\n")
    second = write(tmp_path / "second", "[Copilot]\ntool_rounds = 11\n")
    settings = load_settings([first, second])
    assert (settings.tool_rounds, settings.max_turns) == (11, 7)


@pytest.mark.parametrize(
    ("text", "enabled"),
    [("false", False), ("False", False), ("0", False), ("no", False), ("off", False), ("true", True), ("1", True)],
)
def test_the_off_switch_takes_every_usual_spelling(tmp_path: Path, text: str, enabled: bool) -> None:
    settings = load_settings([write(tmp_path / "conf", f"[Copilot]\nenabled = {text}\n")])
    assert settings.enabled is enabled


def test_a_percent_sign_elsewhere_in_the_file_is_no_matter(tmp_path: Path) -> None:
    settings = load_settings([write(tmp_path / "conf", "[Server]\npassword = 100%\n[Copilot]\nmax_turns = 3\n")])
    assert settings.max_turns == 3


def test_a_section_called_default_gives_us_no_settings(tmp_path: Path) -> None:
    assert load_settings([write(tmp_path / "conf", "[DEFAULT]\nfoo = 1\n[Copilot]\n")]) == Settings()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("max_trns = 3", "max_trns"),
        ("max_turns = many", "max_turns"),
        ("max_turns = 0", "max_turns"),
        ("heartbeat_seconds = 16", "heartbeat_seconds"),
        ("heartbeat_seconds = 0", "heartbeat_seconds"),
        ("enabled = perhaps", "enabled"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, line: str, named: str) -> None:
    with pytest.raises(SettingsError, match=rf"\b{named}\b"):
        load_settings([write(tmp_path / "conf", f"[Copilot]\n{line}\n")])


@pytest.mark.parametrize("text", ["no section\n", "[Copilot]\nmax_turns = 1\nmax_turns = 2\n"])
def test_a_file_that_is_no_configuration_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"^gns3_server\.conf cannot be read: ") as refused:
        load_settings([write(tmp_path / "conf", text)])
    assert "\n" not in refused.value.message


def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    path.write_bytes("[Server]\nname = Zürich\n".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"^gns3_server\.conf cannot be read: "):
        load_settings([str(path)])


def test_the_page_has_every_setting_with_its_default_and_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| (.+?) \|$", CONFIGURATION_PAGE.read_text(), re.MULTILINE)
    expected = [
        (name, str(field.default).lower().removesuffix(".0"), field.description)
        for name, field in Settings.model_fields.items()
    ]
    assert rows == expected
