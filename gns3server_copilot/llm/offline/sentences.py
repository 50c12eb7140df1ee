"""Reads plain sentences that ask for what a slash command does: English, and the commonest in French and Chinese.

What changes the lab must match as a whole sentence, so that pasted text with such words in it changes nothing. What
only looks at templates or the topology may match by a part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gns3server_copilot.llm.offline.requests import (
    About,
    CaptureTraffic,
    Help,
    InjectFault,
    ListTemplates,
    Power,
    ReadTopology,
    RenameNode,
    Request,
    RestoreFaults,
    RunCommands,
    SwitchNodes,
    Unknown,
)
from gns3server_copilot.llm.offline.slash import Words, create_nodes, read_link, read_ping

#: A person's request to do something is short; a longer text is something else.
MAX_LENGTH = 300

NUMBERS = {
    "a": 1, "an": 1, "another": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5,
    "一": 1, "一个": 1, "一台": 1, "两": 2, "两个": 2, "两台": 2, "三": 3, "三个": 3, "三台": 3,
}  # fmt: skip


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


SPACES = re.compile(r"[^\S\n]+")
POLITE_START = re.compile(
    r"^(?:(?:please|now|then|ok|okay|and)\b[,\s]*|(?:could|can|would|will) you (?:please )?"
    r"|i (?:want|would like|'d like) (?:you )?to |let'?s |s'il (?:te|vous) pla[iî]t[,\s]*|请|帮我)+",
    re.IGNORECASE,
)
POLITE_END = re.compile(r"(?:[,\s]*\b(?:please|now|for me|thanks?|thank you)|[\s.!?。！？])+$", re.IGNORECASE)
ARTICLE = re.compile(r"^(?:the|all|my|of|le|la|les|node|nodes|device|devices)\s+", re.IGNORECASE)
IN_THE_LAB = re.compile(
    r"\s+(?:to|in|into|on|for|à|au|dans) (?:(?:the|my|this|le|la|ce|mon) )?(?:lab|project|topology|projet)$",
    re.IGNORECASE,
)
PREPOSITION = re.compile(r"\s(?:to|on|from|for|in|with|between|at|of)\s", re.IGNORECASE)
AROUND_TEMPLATE = re.compile(r"^(?:new|more|other)\s+|\s+(?:nodes?|devices?)$", re.IGNORECASE)
NAME_BREAK = re.compile(r"\s*(?:,|\band\b|\bet\b|和)\s*", re.IGNORECASE)
EVERYTHING = _any(
    r"(?:all|everything|tout)(?: (?:the )?(?:nodes|devices|of them|les nœuds))?",
    r"(?:the|my) (?:lab|project|network)",
    r"(?:the |my )?(?:nodes|devices)",
    r"(?:全部|所有)(?:节点|设备)?",
)

TALK: tuple[tuple[re.Pattern[str], Request], ...] = (
    (
        _any(r"help(?: me)?|what can you do|what do you (?:know|understand)", r"aide(?:-moi)?", r"帮助|你能做什么"),
        Help(),
    ),
    (
        _any(
            r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|bonjour|salut|你好|您好)(?: there| copilot)?",
            r"(?:who|what) are you|qui es[- ]tu|你是谁",
            r"are you (?:an? )?(?:ai|llm|language model|human|robot|bot|real)(?: model)?",
            r"what (?:model|ai|llm) (?:is this|are you)",
        ),
        About(),
    ),
)
READING: tuple[tuple[re.Pattern[str], Request], ...] = (
    (
        _any(r"\btemplates?\b|\bappliances?\b|what can i (?:add|create)", r"mod[eè]les? disponibles", r"模板"),
        ListTemplates(),
    ),
    (
        _any(
            r"\btopolog(?:y|ie)\b|拓扑",
            r"\b(?:what(?:'s| is| do (?:i|you)|s)?|which|show|list|describe|see|tell me|how many|count|look at)\b.*"
            r"\b(?:labs?|project|nodes?|devices?|routers?|switch(?:es)?|pcs?|hosts?|links?|network)\b",
            r"\b(?:quels?|quelles?|montre|liste|combien)\b.*"
            r"\b(?:n(?:oe|œ)uds?|[ée]quipements?|liens?|routeurs?|labo?|projet)\b",
            r"(?:有哪些|有什么|多少|列出|显示).*(?:节点|设备|路由器|链路|实验)",
        ),
        ReadTopology(),
    ),
)

# what follows a verb must begin like a name: "start with the basics" is not about a node called "with"
NAME = r"[\w\"'“«][^?!;]*"
Build = Callable[[re.Match[str], Sequence[str]], Request | None]
CHANGES: tuple[tuple[re.Pattern[str], Build], ...] = (
    (
        _any(
            r"(?:inject|create|make|add|apply|introduce|put in|prepare|set up|give me)(?: an?| some| one)?(?: \w+)? "
            r"(?:faults?|problems?|exercises?|failures?)(?: .{0,60})?",
            r"break (?:something|it|the (?:lab|network))(?: .{0,40})?",
            r"inject|注入故障",
        ),
        lambda found, names: InjectFault(),
    ),
    (
        _any(
            r"(?:restore|undo|remove|clear|revert|take away|repair|fix)(?: the| all| my| every)?(?: the)? "
            r"(?:faults?|lab|network|everything)",
            r"restore|恢复",
        ),
        lambda found, names: RestoreFaults(),
    ),
    (
        _any(rf"(?:create|add|ajoute[rz]?|cr[ée]e[rz]?|创建|添加|新建)\s*(?P<what>{NAME})"),
        lambda found, names: _create(found["what"]),
    ),
    (
        _any(
            rf"(?:link|connect|wire|cable|relie[rz]?|connecte[rz]?|连接)\s*(?P<a>{NAME}?)\s*"
            rf"(?:\bto\b|\band\b|\bwith\b|\bet\b|\bà\b|和|与)\s*(?P<b>{NAME})"
        ),
        lambda found, names: read_link(Words(f"{_end(found['a'], names)} {_end(found['b'], names)}", names)),
    ),
    (
        _any(rf"(?:start|boot|power on|turn on|switch on|démarre[rz]?|启动)(?: up)?\s*(?P<who>{NAME})"),
        lambda found, names: _switch(Power.START, found["who"], names),
    ),
    (
        _any(rf"(?:stop|shut down|power off|turn off|switch off|arrête[rz]?|停止)\s*(?P<who>{NAME})"),
        lambda found, names: _switch(Power.STOP, found["who"], names),
    ),
    (
        _any(rf"(?:suspend|pause)\s+(?P<who>{NAME})"),
        lambda found, names: _switch(Power.SUSPEND, found["who"], names),
    ),
    (
        _any(rf"rename\s+(?P<who>{NAME}?)\s+(?:to|as|into)\s+(?P<new>\S+)"),
        lambda found, names: _rename(found["who"], found["new"], names),
    ),
    (
        _any(
            rf"(?:run|execute|send|do)?\s*[\"'`]?(?P<what>show [^\"'`?!;]+?)[\"'`]?\s+(?:on|from|of)\s+(?P<who>{NAME})"
        ),
        lambda found, names: _show(found["what"], found["who"], names),
    ),
    (
        _any(rf"(?:can )?(?P<who>{NAME}?) (?:can )?(?:ping|reach) (?P<where>\S+)"),
        lambda found, names: _ping(found["who"], found["where"], names),
    ),
    (
        _any(rf"ping (?P<where>\S+) from (?P<who>{NAME})"),
        lambda found, names: _ping(found["who"], found["where"], names),
    ),
    (
        _any(rf"ping from (?P<who>{NAME}?) to (?P<where>\S+)"),
        lambda found, names: _ping(found["who"], found["where"], names),
    ),
    (
        _any(
            r"(?:analy[sz]e|capture|look at|show|check|what is)(?: the| me)*(?: (?P<protocol>[\w-]+))?"
            r"(?: traffic| packets| messages| happening| going on)+(?: on| between)+(?: the)?(?: link)? "
            rf"(?P<a>{NAME}?)(?: and | to |-)(?P<b>{NAME})"
        ),
        lambda found, names: _capture(found["a"], found["b"], found["protocol"] or "", names),
    ),
)


def read_sentence(text: str, known_names: Sequence[str]) -> Request:
    """Give the request that a plain sentence makes; Unknown when no rule fits."""
    if len(text) > MAX_LENGTH:
        return Unknown()
    sentence = POLITE_END.sub("", POLITE_START.sub("", SPACES.sub(" ", text.strip()))).strip()
    for pattern, talk in TALK:
        if pattern.fullmatch(sentence):
            return talk
    if "\n" not in sentence:
        for pattern, build in CHANGES:
            found = pattern.fullmatch(sentence)
            request = build(found, known_names) if found else None
            if request is not None:
                return request
    return next((reading for pattern, reading in READING if pattern.search(sentence)), Unknown())


def _create(what: str) -> Request | None:
    what = IN_THE_LAB.sub("", what)
    first, _, rest = what.partition(" ")
    count = int(first) if first.isdecimal() and len(first) < 6 else NUMBERS.get(first.casefold())
    if count is None:
        glued = re.match(r"(\d{1,5}|[一两三](?:个|台)?)\s*(?=\D)", what)
        if glued is None or not glued[1]:
            return None
        count = int(glued[1]) if glued[1].isdecimal() else NUMBERS[glued[1]]
        rest = what[glued.end() :]
    template = AROUND_TEMPLATE.sub("", rest.strip())
    if PREPOSITION.search(f"{template} ") or len(template.split()) > 4:
        return None
    return create_nodes(count, template)


def _switch(power: Power, who: str, known_names: Sequence[str]) -> Request | None:
    who = IN_THE_LAB.sub("", who)
    if EVERYTHING.fullmatch(who):
        return SwitchNodes(power, ("all",))
    nodes = _names(who, known_names)
    return SwitchNodes(power, nodes) if nodes else None


def _rename(who: str, new_name: str, known_names: Sequence[str]) -> Request | None:
    node, name = _name(who, known_names), new_name.strip("\"'")
    return RenameNode(node, name) if node and name else None


def _capture(a: str, b: str, protocol: str, known_names: Sequence[str]) -> Request | None:
    ends = _name(a, known_names), _name(b, known_names)
    return CaptureTraffic("-".join(ends), protocol=protocol.casefold()) if all(ends) else None


def _show(what: str, who: str, known_names: Sequence[str]) -> Request | None:
    devices = _names(who, known_names)
    return RunCommands(devices, (what.strip(),)) if devices else None


def _ping(who: str, where: str, known_names: Sequence[str]) -> Request | None:
    device = _name(who, known_names)
    return read_ping(Words(f"{_quoted(device)} {where}", known_names)) if device else None


def _names(text: str, known_names: Sequence[str]) -> tuple[str, ...]:
    """Give the names in `R1, R2 and R3`; none when one of them does not look like a name."""
    names = tuple(_name(part, known_names) for part in NAME_BREAK.split(text.strip()) if part)
    return names if all(names) else ()


def _name(text: str, known_names: Sequence[str]) -> str:
    """Give the one name in a text: known, quoted, or a single word; else ""."""
    text = text.strip()
    for candidate in (text, ARTICLE.sub("", text)):
        words = Words(candidate, known_names)
        name = words.name()
        if name and not words.rest:
            return name
    return ""


def _end(text: str, known_names: Sequence[str]) -> str:
    node, _, port = text.partition(":")
    name = _name(node, known_names)
    return f"{_quoted(name)}:{port.strip()}" if port else _quoted(name)


def _quoted(name: str) -> str:
    return f'"{name}"'
