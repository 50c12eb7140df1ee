"""Loading: what overrides what, what is left out and why, and that nothing breaks the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gns3server_copilot.knowledge import loader
from gns3server_copilot.knowledge.files import MAX_BYTES
from gns3server_copilot.knowledge.kinds import KIND_NAMES, KINDS
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.settings import Settings
from tests.unit.knowledge.conftest import Fruit, write


def only_problem(knowledge):
    """Give the one problem, and check that both packaged fruits are there."""
    assert {"apple", "pear"} <= set(knowledge.of(Fruit))
    (problem,) = knowledge.problems
    return problem.file, problem.line, problem.message


def test_everything_that_is_packaged_loads():
    knowledge = packaged_knowledge()
    assert knowledge.problems == ()
    for kind in KINDS:
        assert kind.name in KIND_NAMES
        assert knowledge.keys(kind.name), kind.name
        assert all(entry.source == "packaged" for entry in knowledge.of(kind.schema).entries)
    assert set(knowledge.keys("prompts")) == next(kind.only for kind in KINDS if kind.name == "prompts")


def test_an_admins_files_override_and_add_file_by_file(load, admin):
    write(admin, "fruits/apple.yaml", "name: Our apple\n")
    write(admin, "fruits/plum.yaml", "name: Plum\n")
    knowledge = load()
    assert knowledge.problems == ()
    assert [(entry.key, entry.value.name, entry.source) for entry in knowledge.of(Fruit).entries] == [
        ("apple", "Our apple", "overridden"),
        ("pear", "Pear", "packaged"),
        ("plum", "Plum", "added"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("name: Apple\ntopics:\n  - title: a\n    lines: [x]\n  - titel: b\n", 5, "topics[2].title: Field required"),
        ("name: Apple\ncolour: red\n", 2, "colour: Extra inputs are not permitted"),
        ("name: Apple\ntopics:\n- title: a\n  lines:\n  - 12\n", 5, "topics[1].lines[1]: "),
        ("name: Apple\nname: Pear\n", 2, "the key name is given twice"),
        ("name: Apple\ntopics: [\n", 3, "not valid YAML: "),
        ("name: 'Apple\n", 2, "not valid YAML: "),
        ("name: Apple\n\ttopics: []\n", 2, "not valid YAML: "),
        ("name: !!python/object/apply:os.system [id]\n", 1, "not valid YAML: could not determine a constructor"),
        ("a: &a [x]\nb: [*a, *a]\n", 1, "anchors and aliases"),
        ("? [a, b]\n: c\n", 1, "a key has to be a plain text"),
        ("- name\n", 1, "the file has to be one mapping"),
        ("name: " + "[" * 200 + "]" * 200, 1, "nested too deeply"),
        ("name: " + "[" * 100_000, 1, "not valid YAML"),
        ("name: a\x07b\n", 0, "unacceptable character"),
        ("name: a\n--- \nname: b\n", 2, "not valid YAML: expected a single document"),
        ("# nothing\n", 0, "the file is empty"),
        ("name: !!int many\n", 0, "it cannot be read as YAML"),
        (b"name: Apple\naliases: [caf\xe9]\n", 2, "it is not in UTF-8"),
        (b"x" * (MAX_BYTES + 1), 0, "it is larger than 1 MB"),
        ("allowed: [peel, throw]\nname: Apple\n", 0, "allowed: throw is not in the packaged file"),
        ("allowed: [breaks]\nname: Apple\n", 0, "it could not be checked"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str) else None,
)
def test_a_wrong_override_is_left_out_with_its_line_and_the_packaged_file_is_used(load, admin, text, line, reason):
    write(admin, "fruits/apple.yaml", text)
    write(admin, "fruits/plum.yaml", "name: Plum\n")
    knowledge = load()
    file, at, message = only_problem(knowledge)
    assert (file, at) == ("fruits/apple.yaml", line)
    assert reason in message
    assert message.endswith("; the packaged file is used")
    assert len(message) < 500
    assert knowledge.of(Fruit)["apple"].name == "Apple"
    assert knowledge.of(Fruit)["plum"].name == "Plum"


def test_of_many_mistakes_the_first_are_told_with_their_lines(load, admin):
    write(admin, "fruits/plum.yaml", "\n".join(f"wrong{number}: 1" for number in range(9)))
    _, _, message = only_problem(load())
    assert message.startswith("name: Field required; wrong0: Extra inputs are not permitted (line 1); ")
    assert message.endswith("; and 5 more")


def test_a_schema_that_fails_on_a_file_is_a_problem_of_that_file(load, admin, monkeypatch, caplog):
    write(admin, "fruits/plum.yaml", "name: Plum\n")
    names = iter(["apple", "pear", "plum"])

    def read(text):
        if next(names) == "plum":
            raise ZeroDivisionError
        return Fruit(name="x")

    monkeypatch.setattr(Fruit, "read", read)
    assert only_problem(load())[2] == "it could not be read; the server's log says why"
    assert "ZeroDivisionError" in caplog.text


def test_words_that_yaml_1_1_takes_for_other_things_are_words(load, admin):
    write(admin, "fruits/plum.yaml", "name: Plum\naliases: [no, on, yes, off, 12:30, 2024-01-01, 0x1f, 1_000, y]\n")
    aliases = load().of(Fruit)["plum"].aliases
    assert aliases == ("no", "on", "yes", "off", "12:30", "2024-01-01", "0x1f", "1_000", "y")


def test_trusted_overrides_may_loosen(load, admin):
    write(admin, "fruits/apple.yaml", "name: Apple\nallowed: [peel, throw]\n")
    assert load(trust_guard_overrides=True).of(Fruit)["apple"].allowed == ("peel", "throw")


def test_a_packaged_file_that_is_wrong_leaves_the_others(load, packaged):
    write(packaged, "fruits/apple.yaml", "nam: Apple\n")
    knowledge = load()
    assert list(knowledge.of(Fruit)) == ["pear"]
    assert [problem.file for problem in knowledge.problems] == ["fruits/apple.yaml"]


# -- what may be in the directory


def test_links_inside_the_directory_are_followed_and_those_out_of_it_refused(load, admin, tmp_path):
    write(admin, "..data/plum.yaml", "name: Plum\n")  # as a Kubernetes volume keeps its files
    (admin / "fruits").mkdir()
    (admin / "fruits" / "plum.yaml").symlink_to("../..data/plum.yaml")
    (admin / "fruits" / "fig.yaml").symlink_to(write(tmp_path, "outside/fig.yaml", "name: Fig\n"))
    knowledge = load()
    assert only_problem(knowledge) == ("fruits/fig.yaml", 0, "it is a link that leads out of the directory")
    assert list(knowledge.of(Fruit)) == ["apple", "pear", "plum"]


def test_a_folder_that_is_a_link_out_of_the_directory_is_refused(load, admin, tmp_path):
    write(tmp_path, "outside/fig.yaml", "name: Fig\n")
    (admin / "fruits").symlink_to(tmp_path / "outside")
    assert only_problem(load()) == ("fruits", 0, "the folder is a link that leads out of the directory")


def test_the_directory_itself_may_be_a_link(packaged, admin, tmp_path):
    write(admin, "fruits/plum.yaml", "name: Plum\n")
    (tmp_path / "link").symlink_to(admin)
    assert "plum" in loader.load(tmp_path / "link", Settings()).of(Fruit)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.mkdir(), "it cannot be read"),
        (os.mkfifo, "it is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a link that leads out of the directory"),
        (lambda path: path.symlink_to("absent.yaml"), "it cannot be read: No such file"),
        (lambda path: path.symlink_to("plum.yaml"), "it c"),
    ],
    ids=["folder", "pipe", "device", "broken-link", "link-to-itself"],
)
def test_what_is_no_file_is_left_out(load, admin, make, reason):
    (admin / "fruits").mkdir()
    make(admin / "fruits" / "plum.yaml")
    file, _, message = only_problem(load())
    assert file == "fruits/plum.yaml"
    assert message.startswith(reason)


def test_names_that_nothing_will_use_are_said_and_editors_leftovers_are_not(load, admin):
    for name in ("fruits/plum.yml", "frutis/plum.yaml", "fruits/.plum.yaml.swp", "fruits/plum.yaml~", "README.md"):
        write(admin, name, "name: Plum\n")
    assert [(problem.file, problem.message) for problem in load().problems] == [
        ("fruits/plum.yml", "the name has to end with .yaml"),
        ("frutis", "nothing uses a folder of this name; there are fruits"),
    ]


def test_the_default_directory_may_be_absent_and_a_named_one_not(packaged, tmp_path):
    absent = tmp_path / "absent"
    assert len(loader.load(absent, Settings()).entries) == 2
    with pytest.raises(FileNotFoundError):
        loader.load(absent, Settings(knowledge_path=str(absent)))


@pytest.mark.parametrize(
    ("setting", "expected"), [("copilot", "/etc/gns3/copilot"), ("/srv/k", "/srv/k"), ("~/k", "/home/ann/k")]
)
def test_a_relative_path_starts_at_the_configuration_directory(setting, expected, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    assert loader.admin_directory(Path("/etc/gns3"), Settings(knowledge_path=setting)) == Path(expected)


# -- names


@pytest.mark.parametrize("name", ["apple", "Apple", " APPLE ", "pomme", "injection_apple", "injection_apple_issues"])
def test_a_file_is_found_by_its_own_name_by_its_name_inside_and_by_aliases(load, name):
    assert load().of(Fruit).find(name).name == "Apple"


def test_a_files_own_name_beats_another_files_alias(load, admin):
    write(admin, "fruits/aardvark.yaml", "name: Pear\naliases: [apple, quince]\n")
    fruits = load().of(Fruit)
    assert fruits.find("apple").name == "Apple"
    assert fruits.find("pear") is fruits["pear"]
    assert fruits.find("quince") is fruits["aardvark"]
    assert fruits.find("") is None


def test_the_version_changes_with_any_file_and_with_nothing_else(load, admin):
    before = load().version
    assert load().version == before
    path = write(admin, "fruits/plum.yaml", "name: Plum\n")
    assert load().version != before
    path.unlink()
    assert load().version == before


# -- prompts


def test_prompts_name_only_placeholders_that_are_filled(tmp_path):
    write(tmp_path, "prompts/teaching_assistant.md", "Work in {{ project }}.\r\n\r\nUse {{tool}}.\r\n")
    write(tmp_path, "prompts/title.md", " \n")
    write(tmp_path, "prompts/pirate.md", "Arr.")
    knowledge = loader.load(tmp_path, Settings())
    assert [(problem.file, problem.line) for problem in knowledge.problems] == [
        ("prompts/pirate.md", 0),
        ("prompts/teaching_assistant.md", 3),
        ("prompts/title.md", 1),
    ]
    assert knowledge.version == packaged_knowledge().version
