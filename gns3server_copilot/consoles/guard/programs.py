"""Commands of which every option is known: their options checked, and bounds put in where the device has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gns3server_copilot.consoles.guard.family import KnownProgram
from gns3server_copilot.knowledge.guard_patterns import fits_values


class NotAllowedError(Exception):
    """The command has an option, a value or a word that is not allowed; the text is the reason."""


def checked(name: str, program: KnownProgram, tokens: Sequence[str], *, abbreviations: bool) -> list[str]:
    """Give the words after the program's name as they would be sent. Raises NotAllowedError."""
    sent: list[str] = []
    plain: list[str] = []
    given: set[str] = set()
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        option, attached = _option(name, program, token, abbreviations)
        if option is None:
            plain.append(token)
            sent.append(token)
            continue
        if not option:
            sent.append(token)
            given.update(f"-{letter}" for letter in token[1:])
            continue
        given.add(option)
        tests = program.options[option].values
        values = [attached] if attached is not None else list(tokens[position : position + len(tests)])
        position += 0 if attached is not None else len(values)
        # a device that takes the first of them for a host would take the second for the option
        named = abbreviations and any(_names(value.lower(), program.options) for value in values)
        if named or not fits_values(tests, values):
            raise NotAllowedError(_wrong_value(name, program, option))
        sent += [option + values[0]] if option.endswith("=") else [option, *values]
    if bad := next((word for word in plain if word in program.rules.without), ""):
        raise NotAllowedError(f"`{name}` is not allowed with `{bad}` here. {program.usage}")
    needs = program.rules.needs
    if needs and not plain and not given.intersection(needs):
        raise NotAllowedError(program.usage)
    if not program.takes(plain):
        raise NotAllowedError(program.usage)
    missing = {option: value for option, value in program.rules.add.items() if option not in given}
    added = [word for option, value in missing.items() for word in _added(option, value)]
    return [*added, *sent] if program.rules.add_first else [*sent, *added]


def _option(name: str, program: KnownProgram, token: str, abbreviations: bool) -> tuple[str | None, str | None]:
    """Give the option's name and the value attached to it; ("", None) for flags, (None, None) for another word."""
    options = program.options
    if token.startswith("-"):
        if token in options:
            return token, None
        letters = token[1:]
        if letters and all(letter in program.rules.flags for letter in letters):
            return "", None
        if not token.startswith("--") and token[:2] in options and len(options[token[:2]].values) == 1:
            return token[:2], token[2:]
        raise NotAllowedError(f"`{name}` is not allowed with `{token}` here. {program.usage}")
    key, equals, value = token.partition("=")
    word = (key + equals).lower() if abbreviations else key + equals
    if word in options:
        return word, value if equals else None
    if abbreviations:
        near = [one for one in options if one.startswith(key.lower()) and one.endswith("=") == bool(equals) and key]
        if len(near) == 1:
            return near[0], value if equals else None
        if near:
            raise NotAllowedError(f"`{token}` can mean {', '.join(near)}. Write the word in full.")
    return None, None


def _names(word: str, options: Iterable[str]) -> bool:
    return any(option.startswith(word) for option in options)


def _added(option: str, value: str) -> list[str]:
    return [option + value] if option.endswith("=") else [option, *value.split()]


def _wrong_value(name: str, program: KnownProgram, option: str) -> str:
    wanted = program.rules.options[option]
    within = f" between {wanted.split()[-1].replace('-', ' and ')}" if "-" in wanted and "~" not in wanted else ""
    return f"`{name}` needs a bounded value{within} after `{option}`. Ask for fewer or shorter tries."
