"""Requests and answers of the LLM configuration routes (docs/developer/llm-configs.md)."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from gns3server_copilot.schemas.modes import Mode

ProviderName = Literal["openai", "anthropic", "google", "aws", "ollama", "deepseek", "xai", "offline"]
ModelType = Literal["text", "vision", "stt", "tts", "multimodal", "embedding", "reranking", "other"]
ContextStrategy = Literal["conservative", "balanced", "aggressive"]

#: The model types that can hold a chat, and so the only ones that can be a default.
CHAT_MODEL_TYPES = ("text", "multimodal")

#: Set by the server in every answer; a custom field of such a name could be taken for it.
RESERVED_NAMES = {
    "config",
    "config_id",
    "created_at",
    "expected_version",
    "group_id",
    "group_name",
    "has_api_key",
    "key_error",
    "source",
    "updated_at",
    "user_id",
    "version",
}
#: Write-only fields besides `api_key`, and the provider that they are for.
SECRET_FIELDS = {"aws_access_key_id": "aws", "aws_secret_access_key": "aws"}

MAX_CUSTOM_FIELDS = 50
MAX_CUSTOM_CHARACTERS = 20_000
MAX_WHOLE_NUMBER = 2**31 - 1

_SECRET_NAME = re.compile(
    r"apikey|secret|passw|passphrase|token(?!s)|authorization|credential|accesskey|privatekey|bearer"
)
_SECRET_ENDING = re.compile(r"(^|[_-])(key|auth|pwd|pass)$", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
#: As programs show a key: stars or dots with its last characters, or with both ends.
_MASKED_KEY = re.compile(r"[*\u2022\u25cf]+.{0,4}|.*(\.\.\.|\u2026|\*\*\*).*")
DEEPEST = 20


def looks_secret(name: str) -> bool:
    """Tell whether a field of this name would hold a secret. `max_completion_tokens` and its like do not."""
    letters = re.sub(r"[^a-z]", "", name.lower())
    return _SECRET_NAME.search(letters) is not None or _SECRET_ENDING.search(name) is not None


def read_number(value: object) -> object:
    """Take exact numbers that come as strings: the web UI sends custom rows so, and "" or "null" for an empty field."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    if isinstance(value, str):
        text = value.strip()
        if text in ("", "null"):
            return None
        if not _PLAIN_NUMBER.fullmatch(text):
            raise ValueError("must be a plain number")
        return float(text) if "." in text else int(text)
    return value


def _base_url(value: object) -> object:
    if value is None:
        return ""
    if not isinstance(value, str) or not (url := value.strip()):
        return "" if isinstance(value, str) else value
    if re.search(r"[\s\\\x00-\x1f\x7f]", url):
        raise ValueError("must be a URL without spaces")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must be empty or a URL that begins with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("must not hold credentials; put the key into api_key")
    if parts.fragment:
        raise ValueError("must not have a fragment")
    if any(looks_secret(name) or name.lower() == "key" for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise ValueError("must not hold credentials; put the key into api_key")
    return url


def _api_key(value: object) -> object:
    """Refuse masked values and what no HTTP header can hold. The messages never repeat the value."""
    if not isinstance(value, str):
        return value
    key = value.strip()
    if not key:
        return None
    if _MASKED_KEY.fullmatch(key):
        raise ValueError("is masked; enter the key itself, or leave the field out")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("holds characters that a key cannot have")
    return key


def _custom_name(name: str) -> str:
    if not 0 < len(name) <= 100:
        raise ValueError("the name of a custom field has 1 to 100 characters")
    if not name.isprintable():
        raise ValueError("the name of a custom field holds printable characters only")
    if name in RESERVED_NAMES:
        raise ValueError("is set by the server and cannot be a custom field")
    if looks_secret(name):
        raise ValueError("looks like a secret, which a custom field cannot keep; put the key into api_key")
    return name


def _custom_value(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):  # a lone surrogate could be stored and never be shown
        raise ValueError("must be plain JSON without NaN, infinity and broken characters") from None
    if _names_secret(value):
        raise ValueError("holds something that looks like a secret; put the key into api_key")
    return value


def _names_secret(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):  # the web UI sends objects as their JSON text
        try:
            value = json.loads(value)
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        except ValueError:
            return False
    if isinstance(value, dict):
        return any(looks_secret(name) or _names_secret(inner, depth + 1) for name, inner in value.items())
    return isinstance(value, list) and any(_names_secret(inner, depth + 1) for inner in value)


def check_custom_size(custom: dict[str, Any]) -> None:
    """Raise ValueError when a configuration would hold more custom fields than is sensible."""
    if len(custom) > MAX_CUSTOM_FIELDS or len(json.dumps(custom)) > MAX_CUSTOM_CHARACTERS:
        raise ValueError(f"at most {MAX_CUSTOM_FIELDS} custom fields of {MAX_CUSTOM_CHARACTERS} characters altogether")


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not hold control characters")
    return text


def _null_is(value: object) -> BeforeValidator:
    return BeforeValidator(lambda given: value if given is None else given)


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_printable)]
Temperature = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
WholeNumber = Annotated[int, Field(ge=1, le=MAX_WHOLE_NUMBER)]
Secret = Annotated[SecretStr | None, Field(max_length=4096), BeforeValidator(_api_key)]


ContextLimit = Annotated[int, Field(ge=1, le=10_000), BeforeValidator(read_number)]
BaseUrl = Annotated[str, Field(max_length=2000), BeforeValidator(_base_url)]
MaybeTemperature = Annotated[Temperature | None, BeforeValidator(read_number)]
MaybeWholeNumber = Annotated[WholeNumber | None, BeforeValidator(read_number)]
Strategy = Annotated[ContextStrategy, _null_is("balanced")]
StoredMode = Annotated[Literal[Mode.TEACHING, Mode.LAB_AUTOMATION], _null_is(Mode.TEACHING)]
Switch = Annotated[bool, _null_is(False)]
CustomName = Annotated[str, AfterValidator(_custom_name)]
CustomValue = Annotated[Any, AfterValidator(_custom_value)]


class CreateLLMConfig(BaseModel):
    """A configuration as clients send it: flat, and every unknown key is a custom field for the provider's client."""

    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)

    name: Annotated[Line, Field(max_length=100)]
    model_type: ModelType
    provider: ProviderName
    model: Annotated[Line, Field(max_length=200)]
    context_limit: ContextLimit = Field(description="Size of the model's context window in thousands of tokens.")
    base_url: BaseUrl = Field("", description="Empty for the provider's own address.")
    temperature: MaybeTemperature = Field(None, description="Null: not sent to the provider.")
    max_tokens: MaybeWholeNumber = Field(None, description="Longest answer in tokens. Null: not sent to the provider.")
    context_strategy: Strategy = "balanced"
    copilot_mode: StoredMode = Mode.TEACHING
    is_default: Switch = False
    api_key: Secret = Field(None, description="Write-only: stored encrypted, never shown again.")
    aws_access_key_id: Secret = Field(None, description="Write-only, for the provider aws.")
    aws_secret_access_key: Secret = Field(None, description="Write-only, for the provider aws.")

    __pydantic_extra__: dict[CustomName, CustomValue] = Field(init=False)

    @field_validator("is_default")
    @classmethod
    def _only_chat_models_are_default(cls, is_default: bool, info: ValidationInfo) -> bool:
        if is_default and info.data.get("model_type", "text") not in CHAT_MODEL_TYPES:
            raise ValueError("only text and multimodal models can be the default")
        return is_default

    @field_validator(*SECRET_FIELDS)
    @classmethod
    def _secrets_belong_to_their_provider(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        provider = SECRET_FIELDS[info.field_name or ""]
        if secret is not None and info.data.get("provider", provider) != provider:
            raise ValueError(f"is for the provider {provider} only")
        return secret

    @model_validator(mode="after")
    def _limit_custom_fields(self) -> CreateLLMConfig:
        check_custom_size(self.custom_fields)
        return self

    @property
    def custom_fields(self) -> dict[str, Any]:
        """The unknown keys, as they came."""
        return self.__pydantic_extra__

    @property
    def secrets(self) -> dict[str, SecretStr]:
        """The secrets besides the key that came, by field name."""
        given = {name: getattr(self, name) for name in SECRET_FIELDS}
        return {name: secret for name, secret in given.items() if secret is not None}

    def stored(self) -> dict[str, Any]:
        """Give what goes into the `config` column: everything but secrets and what has columns of its own."""
        columns = {"name", "model_type", "is_default", "api_key", *SECRET_FIELDS}
        return self.model_dump(mode="json", exclude=columns)


class ConfigAnswer(BaseModel):
    """A configuration as answers show it. The key never comes back, and `config` holds what was stored alone:
    the web UI posts whatever it finds there back as strings.
    """

    config_id: str
    name: str
    model_type: str
    config: dict[str, Any]
    user_id: str | None
    group_id: str | None
    is_default: bool
    has_api_key: bool
    key_error: bool = Field(description="The stored key cannot be decrypted any more and must be entered again.")
    version: int
    created_at: str = Field(description="ISO 8601, UTC, ending in +00:00.")
    updated_at: str = Field(description="ISO 8601, UTC, ending in +00:00.")


class UserConfigAnswer(ConfigAnswer):
    """A configuration as one user sees it: an own one, or one of a group of theirs."""

    source: Literal["user", "group"]
    group_name: str | None


class ProbeResult(BaseModel):
    """What came of asking a configuration's model for one word."""

    ok: bool
    latency_ms: int = Field(description="Until the answer was there, or it was clear that none comes.")
    model: str
    error: str | None = Field(description="What is wrong and what to do, in one sentence; null when it works.")


class ConfigList(BaseModel):
    """A group's configurations, and the one that its members' turns use unless they choose otherwise."""

    configs: list[ConfigAnswer]
    default_config: ConfigAnswer | None
    total: int


class UserConfigList(BaseModel):
    """All configurations that a user may use, and the one that their turns use unless told otherwise."""

    configs: list[UserConfigAnswer]
    default_config: UserConfigAnswer | None
    total: int
