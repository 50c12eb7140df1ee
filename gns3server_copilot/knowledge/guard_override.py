"""Compares an admin's guard with the packaged one: an override may only tighten it (docs/guard.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gns3server_copilot.knowledge.guard_patterns import RANGE
from gns3server_copilot.knowledge.schemas.guard import GuardRules, Program, Refusals

#: As many names are told for each list.
MOST_NAMES = 5


def tightens(packaged: GuardRules, override: GuardRules) -> list[str]:
    """Give the reasons why `override` would allow what `packaged` refuses; none if it is as strict in every list.

    It compares the lists, entry by entry, not what they mean: an allowed entry has to be one of the packaged ones, and
    every packaged refusal has to be there. Which category a refusal stands in makes no difference.
    """
    return list(_reasons(packaged, override))


def _reasons(packaged: GuardRules, override: GuardRules) -> Iterator[str]:
    if override.language != packaged.language or override.abbreviations != packaged.abbreviations:
        yield "guard.language and guard.abbreviations have to stay as they are packaged"
    yield from _no_more("guard.comments", packaged.comments, override.comments)
    yield from _all_of("guard.runs", packaged.runs, override.runs)
    yield from _read(packaged, override)
    yield from _config(packaged, override)


def _read(packaged: GuardRules, override: GuardRules) -> Iterator[str]:
    was, now = packaged.read, override.read
    yield from _no_more("guard.read.allow", was.allow, now.allow)
    yield from _all_of("guard.read.commands", was.commands, now.commands)
    yield from _all_of("guard.read.refuse", _patterns(was.refuse), _patterns(now.refuse))
    yield from _no_more("guard.read.filters", _pairs(was.filters), _pairs(now.filters))
    yield from _all_of("guard.read.bad_filters", was.bad_filters, now.bad_filters)
    if now.alternation not in ("no", was.alternation):
        yield f"guard.read.alternation can be `no` or `{was.alternation}`"
    yield from _all_of("guard.read.characters", was.characters, now.characters)
    yield from _programs("guard.read.programs", was.programs, now.programs)


def _config(packaged: GuardRules, override: GuardRules) -> Iterator[str]:
    was, now = packaged.config, override.config
    yield from _all_of("guard.config.refuse", _patterns(was.refuse), _patterns(now.refuse))
    yield from _all_of("guard.config.characters", was.characters, now.characters)
    yield from _all_of("guard.config.quotes", was.quotes, now.quotes)
    if was.tree and not now.tree:
        yield "guard.config.tree has to stay true"
    if was.allow:
        yield from _no_more("guard.config.allow", was.allow, now.allow)
        if not now.allow:
            yield "guard.config.allow may not be empty, which would allow every line"
    yield from _no_more("guard.config.keywords", was.keywords, now.keywords)
    yield from _all_of("guard.config.negations", was.negations, now.negations)
    yield from _no_more("guard.config.modes", was.modes, now.modes)
    yield from _no_more("guard.config.inner_modes", was.inner_modes, now.inner_modes)
    yield from _all_of("guard.config.inside", was.inside, now.inside)
    yield from _all_of("guard.config.exit", was.exit, now.exit)
    yield from _all_of("guard.config.leave", was.leave, now.leave)
    yield from _programs("guard.config.programs", was.programs, now.programs)


def _programs(where: str, packaged: dict[str, Program], override: dict[str, Program]) -> Iterator[str]:
    yield from _no_more(where, packaged, override)
    for name in override.keys() & packaged.keys():
        was, now, here = packaged[name], override[name], f"{where}.{name}"
        yield from _no_more(f"{here}.flags", was.flags, now.flags)
        yield from _no_more(f"{here}.options", was.options, now.options)
        for option in was.options.keys() & now.options.keys():
            if not _within(was.options[option], now.options[option]):
                yield f"{here}.options.{option} can be at most {was.options[option]}"
        yield from _no_more(f"{here}.words", was.words, now.words)
        yield from _all_of(f"{here}.without", was.without, now.without)
        yield from _no_more(f"{here}.needs", was.needs, now.needs)
        if was.needs and not now.needs:
            yield f"{here}.needs may not be empty"
        for option, value in was.add.items():
            if not _within(value, now.add.get(option, "")):
                yield f"{here}.add has to keep {option} at {value} or less"
        yield from _no_more(f"{here}.add", was.add, now.add)
        if was.add_first != now.add_first:
            yield f"{here}.add_first has to stay as it is packaged"
        if was.stop_after and (now.stop_after is None or now.stop_after > was.stop_after):
            yield f"{here}.stop_after can be at most {was.stop_after}"


def _within(packaged: str, override: str) -> bool:
    """Tell whether a value allows no more than the packaged one: the same, or ranges and numbers within its own."""
    if packaged == override:
        return True
    was, now = packaged.split(), override.split()
    return len(was) == len(now) and all(_word_within(one, other) for one, other in zip(was, now, strict=True))


def _word_within(packaged: str, override: str) -> bool:
    was, now = RANGE.fullmatch(packaged), RANGE.fullmatch(override)
    if was and now:
        return int(was[1]) <= int(now[1]) and int(now[2]) <= int(was[2])
    if packaged.isdecimal() and override.isdecimal():
        return int(override) <= int(packaged)
    return packaged == override


def _no_more(where: str, packaged: Collection[object], override: Collection[object]) -> Iterator[str]:
    if more := [str(one) for one in override if one not in packaged]:
        yield f"{where} may not have more than the packaged list: {_named(more)}"


def _all_of(where: str, packaged: Collection[str], override: Collection[str]) -> Iterator[str]:
    if missing := sorted(str(one) for one in packaged if one not in override):
        yield f"{where} has to keep everything of the packaged list: {_named(missing)} is missing"


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def _patterns(refusals: Refusals) -> set[str]:
    return {text for texts in refusals.values() for text in texts}


def _pairs(filters: dict[str, str]) -> list[str]:
    return [f"{name}: {value}" for name, value in filters.items()]
