r"""Where secrets stand in one line of a configuration, a show command's output or a file.

Every rule is a pattern whose groups named `s`, `q` (in double quotes) and `p` (in single ones) are the secret; what is
around it stays. A rule is tried only on lines that hold one of its `needs`, in small letters. All repetitions inside
patterns are bounded, except the secret itself at their end, so that a line costs time in proportion to its length.

Vendors' spellings are facts of their command references; each rule's samples are in tests/unit/redaction/samples.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """Any of `needs` is enough for the pattern to be tried; `also` has to be in the line too, and `unless` must not."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    also: str = ""
    unless: str = ""

    def may_be_in(self, small: str) -> bool:
        """Tell whether a text in small letters can hold what the rule is about."""
        return self.also in small and any(need in small for need in self.needs)


def _rule(needs: str, pattern: str, *, also: str = "", unless: str = "") -> Rule:
    return Rule(tuple(needs.split()), re.compile(pattern, re.IGNORECASE), also, unless)


#: A secret, quoted or not. An unquoted one ends at a space; the signs that close it in some syntaxes are cut off later.
SECRET = r"""(?:"(?P<q>[^"\n]+)"|'(?P<p>[^'\n]+)'|(?P<s>[^\s"'{][^\s]*))"""

#: What may stand between the word and the secret: an encryption's number or name.
TYPE = (
    r"(?:(?:level\s+\d{1,2}|type\s+\d{1,2}|\d{1,2}|encrypted|unencrypted|hash|hashed|sha-?\d{1,3}|md5|clear|text|plain"
    r"|ascii-text|ascii|hexadecimal|hex|cipher|irreversible-cipher|simple|local|remote|mask|password|usual|nonstandard)\s+){0,3}"
)

#: Words that follow `password` and the like in sentences and in commands that hold no secret.
NO_SECRET = (
    r"(?!(?:a|an|and|are|as|at|be|by|can|cannot|for|from|has|have|in|is|it|may|must|not|of|on|or|should|than|that|the"
    r"|this|to|was|were|will|with|you|your|aging|attempts?|auth|authentication|based|cache|change|changed|chain|check"
    r"|complexity|configuration|configured|control|disabled?|enabled?|encrypted|encryption|entered|expir\w{0,8}|failed"
    r"|failure|forced?|format|free|has|history|incorrect|invalid|is|key|length|level|lifetime|login|management"
    r"|mechanism|mechanisms|minimum|min-length|mismatch|none|null|only|policy|policies|prompt|protected|protection"
    r"|recovery|required|reset|rules?|server|servers|set|storage|strength|too|type|unchanged|update|used|user|users"
    r"|verification|wrong|timeout|timed|address|hostname|add|set|print|remove|export|find|edit|level-1|level-2|\||\{|\}|;|:|=|-{1,3}|\(|\)|\[|\*+|<cr>|<(?:removed|hidden|secret|omitted)[^\n]{0,20}>)(?:[\s,.;:)]|$))"
)

WORDS = (
    r"(?:password|passwd|passphrase|passcode|secret|pre-?shared-?key|preshared|shared-key|shared-secret|key-string"
    r"|auth-?key|encrypted-password|password-value|private-?key|set-key|md5-key|key-octet-string|api[-_]?key|access[-_]?key|encryption-key)"
)

RULES: tuple[Rule, ...] = (
    # -- secrets that show by their shape
    _rule("$", r"(?P<s>\$(?:\d{1,2}[a-z]?|[a-z]{1,2}|sha\d{1,3}|apr1|argon2\w{0,2}|scrypt)\$[^\s\"':;,)\]}]{5,})"),
    _rule("%^%# %@%@ %#%#", r"(?P<s>(?P<m>%\^%#|%@%@|%#%#)[^\s]{4,200}?(?P=m))"),
    _rule("eyj", r"(?<![\w-])(?P<s>eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*)"),
    _rule("sk-", r"(?<![\w-])(?P<s>sk-[\w-]{16,})"),
    _rule("xai- ghp_ gho_ ghs_ glpat- xoxb- xoxp-", r"(?<![\w-])(?P<s>(?:xai-|gh[pos]_|glpat-|xox[bp]-)[\w-]{16,})"),
    _rule("aiza", r"(?<![\w-])(?P<s>AIza[\w-]{30,})"),
    _rule("akia asia", r"(?<![\w-])(?P<s>(?:AKIA|ASIA)[A-Z0-9]{16})(?![\w-])"),
    _rule("://", r"://[^\s/:@]{1,64}:(?P<s>[^\s/@]{1,200})@"),
    _rule("bearer basic", r"authorization\s*:\s*(?:bearer|basic)\s+(?P<s>[\w.~+/=-]{8,})"),
    # /etc/shadow with an old hash; the newer ones show by their shape
    _rule(":", r"^[a-z_][\w-]{0,31}:(?P<s>[./0-9a-z]{13}):\d{0,6}:"),
    # -- name=value and name: value, as in RouterOS, environment files, JSON, YAML and WireGuard
    _rule(
        "pass secret key psk token",
        r"(?:password|passwd|passphrase|secret|pre-?shared-?key|private-?key|auth(?:entication)?-key"
        r"|md5-key|api[-_]?key|access[-_]?key|psk|shared-key|encryption-key|(?:access|auth|bearer|api|refresh)[-_]?token)"
        r"""[\w-]{0,16}["']?[ \t]*(?:=|:(?!:))[ \t]*""" + NO_SECRET + SECRET,
    ),
    _rule("psk", rf"(?<![a-z0-9.])psk\s+{TYPE}(?!set-key\b|\S{{1,64}}\s+(?:secret|id)\b){NO_SECRET}{SECRET}"),
    # -- the word, and the secret after it
    _rule(
        "pass secret key psk preshared",
        rf"(?<![a-z0-9./<]){WORDS}(?![\w-])\s+{TYPE}{NO_SECRET}{SECRET}",
    ),
    # ASA prints these without a word that means a secret
    _rule("passwd", r"^\s*passwd\s+(?P<s>\S+)"),
    # -- keys of servers, peers and protocols
    _rule(
        "key",
        r"(?<![\w-])(?:radius|tacacs|hwtacacs|aaa|map-server|server|server-private|failover|isakmp|ike|host|ldap)[\w+-]{0,12}"
        rf"[^\n]{{0,120}}?(?<![\w-])key\s+(?:authentication\s+|accounting\s+|authorization\s+)?{TYPE}"
        r"(?!(?:chain|config-key|generate|id|mypubkey|pubkey-chain|retries)\b)" + NO_SECRET + SECRET,
        unless="ntp ",
    ),
    _rule("pre-shared-key", rf"pre-shared-key\s+(?:address|hostname)\s[^\n]{{1,80}}?\skey\s+{TYPE}{SECRET}"),
    _rule("key", r"^\s+key\s+(?:(?:authentication|accounting|authorization)\s+)?(?:[0678]|cipher|simple)\s+" + SECRET),
    _rule("key", r"^\s+key\s+(?!\d{1,10}\s*$)(?!chain\b)(?P<s>[^\s\"'{]+)\s*$"),
    _rule("key", r"(?<![\w-])key\s+\d{1,10}\s+--\s+text\s+" + SECRET),
    _rule(
        "digest-key", rf"message-digest-key\s+\d{{1,3}}\s+(?:md5|sha-?\d{{1,3}}|hmac-[\w-]{{1,12}})\s+{TYPE}{SECRET}"
    ),
    _rule(
        "authentication-key",
        rf"(?<![\w-])authentication-key\s+(?:\d{{1,10}}\s+(?:md5|sha-?\d{{0,3}}|hmac-[\w-]{{1,12}}|cmac-[\w-]{{1,12}})\s+)?"
        rf"{TYPE}{NO_SECRET}{SECRET}",
    ),
    _rule(
        "authentication-mode",
        r"(?<![\w-])authentication-mode\s+(?:simple|md5|hmac-[\w-]{1,12})\s+(?:\d{1,5}\s+)?"
        r"(?:(?:usual|nonstandard|plain|cipher|ip|osi)\s+){0,3}(?!(?:usual|nonstandard|plain|cipher|privacy-mode|ip|osi)\b)"
        + SECRET,
    ),
    _rule("privacy-mode", r"(?<![\w-])privacy-mode\s+[\w-]{3,12}\s+(?:(?:cipher|simple|plain)\s+)?" + SECRET),
    _rule(
        "authentication",
        r"(?<![\w-])(?:standby|vrrp|glbp|hsrp)\s+(?:\d{1,4}\s+)?authentication\s+(?:text\s+|md5\s+key-string\s+)?(?:[07]\s+)?"
        r"(?!(?:md5|text|key-chain|key-string)\b)" + NO_SECRET + SECRET,
    ),
    _rule("authentication", r"(?<![\w-])(?:nhrp\s+authentication|authentication\s+string)\s+(?:[07]\s+)?" + SECRET),
    _rule("hmac-sha", r"authentication\s+mode\s+hmac-sha-256\s+(?:[07]\s+)?" + SECRET),
    _rule(
        "cipher simple",
        r"(?<![\w-])(?:password|passwd|secret|key|string|community|super|authentication|md5|sha[\w-]{0,8})(?![\w])[^\n]{0,60}?"
        r"\s(?:irreversible-cipher|cipher|simple)\s+(?!(?:aes|3?des|rc4|chacha|authentication-mode|privacy-mode|plain|cipher)(?![\w-]))"
        + SECRET,
    ),
    # -- SNMP
    _rule(
        "snmp",
        r"snmp(?:-server|-agent)?\s+(?:v\d\w?\s+)?community\s+(?:(?:read|write|cipher|simple|encrypted|[0-9])\s+){0,3}"
        r"(?!(?:complexity-check|map|index|add|set|print|remove|export|find|edit)(?![\w-]))" + SECRET,
    ),
    _rule(
        "snmp",
        r"snmp-server\s+host\s+\S{1,64}\s+(?:vrf\s+\S{1,64}\s+)?(?:(?:traps?|informs?)\s+)?"
        r"(?:version\s+(?:1|2c?)\s+)?(?!(?:version|vrf|source-interface|use-vrf|traps?|informs?)(?![\w-]))(?!\d{1,3}(?:\.\d{1,3}){3}(?!\S))"
        + SECRET,
    ),
    # ASA names the interface first, EXOS the kind of access
    _rule(
        "snmp-server host", r"snmp-server\s+host\s+\S{1,64}\s+\S{1,64}\s[^\n]{0,20}?community\s+(?:[0-9]\s+)?" + SECRET
    ),
    _rule("community", r"(?:community\s+(?:readonly|readwrite)|snmpv3\s+add\s+community)\s+(?:encrypted\s+)?" + SECRET),
    _rule("account", r"(?<![\w-])account\s+\S{1,64}\s+(?:\S{1,64}\s+)?encrypted\s+" + SECRET),
    # OSPFv3
    _rule("ipsec", r"(?<!\w)(?P<s>[0-9a-f]{32,})(?!\w)", also="spi"),
    _rule("community", r"(?<![\w-])r[ow]community6?\s+" + SECRET),
    _rule("community", r"^\s{0,40}community\s+(?!add\b|set\b|delete\b)" + SECRET + r"(?=\s*\{)"),
    _rule("community", r"community\s+(?:name|string)\s*[:=]\s*" + SECRET),
    _rule("community", r"/snmp\s+community\s+(?:add|set)\s[^\n]{0,120}?(?<![\w-])name=" + SECRET),
    _rule("auth", r"(?<![\w-])auth\s+(?:md5|sha)[\w-]{0,8}\s+(?!priv\b)" + SECRET, also="snmp"),
    _rule("priv", r"(?<![\w-])priv\s+(?:(?:aes|3?des)(?:[\s-]?\d{3})?\s+)?" + SECRET, also="snmp-server user"),
)

#: Field names in structured data whose values are secrets.
SECRET_FIELD = re.compile(
    r"(?:^|[_-])(?:password|passwd|passphrase|secret|psk|private_?key|api_?key|access_?token|community|enable_password)$",
    re.IGNORECASE,
)
