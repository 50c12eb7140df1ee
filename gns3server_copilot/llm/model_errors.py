"""Sorts what a model provider's client raises into plain sentences.

Provider clients share no base class, so the sorting goes by HTTP status and class name. The original text is never
passed on: it can hold a URL with credentials, the key, or the provider's whole answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence

from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.retry_after import retry_after

log = logging.getLogger(__name__)

#: What stands in errors that come without a telling status, lower case. Google answers 400 to a wrong key.
WRONG_KEY_SIGNS = ("api_key_invalid", "api key not valid", "api key expired")
QUOTA_SIGNS = ("rate_limit_error", "resource_exhausted", "throttlingexception")
OVERLOAD_SIGNS = ("overloaded_error", "api_error", "internalserverexception", "serviceunavailableexception")
TOO_LONG_SIGNS = (
    "context_length",
    "context length",
    "context limit",
    "context window",
    "context size",
    "exceed_context",
    "exceeds the limit of",
    "exceeds the maximum number of tokens",
    "input is too long",
    "input length",
    "maximum context",
    "maximum prompt length",
    "prompt is too long",
    "prompt too long",
    "request_too_large",
    "too many input tokens",
)
#: A single request over a limit for each minute: a smaller one passes at once.
TOO_LARGE_FOR_A_MINUTE = "request too large"
#: A limit that no waiting ends.
EXHAUSTED_SIGNS = ("billing", "credit balance", "insufficient_quota", "insufficient balance", "payment")

#: How long to wait for a limit whose end the provider does not tell, in seconds.
UNTOLD_WAIT = 3.0

QUOTA = "The model provider's limit is reached. Wait a moment, or check the account's quota."
FAULT = "The model provider has a fault of its own. Try again in a moment."


def model_error(error: BaseException, model: str, optional: Iterable[str] = ()) -> ModelError:
    """Give the ModelError for what ended a model call; one that is inside it already comes back unchanged.

    `optional` are the request parameters that can be left out, of which a refusal may name one.
    """
    chain = list(_chain(error))
    for one in chain:
        if isinstance(one, ModelError):
            return one
    kind, sentence = _sort(chain)
    log.warning("Model %s: %s (%s, HTTP status %s)", model, kind, type(error).__name__, _status(chain))
    log.debug("Model %s: what its client raised", model, exc_info=error)
    named = _named(chain, optional) if kind == "refused" else None
    return ModelError(sentence.format(model=model), kind, named, _wait(chain, kind))


def _named(chain: Sequence[BaseException], optional: Iterable[str]) -> str | None:
    if _status(chain) not in (400, 422):
        return None
    text = _text(chain)
    for name in optional:
        if re.search(rf"(?<![a-z0-9_]){re.escape(name.lower())}(?![a-z0-9_])", text):
            return name
    return None


def _wait(chain: Sequence[BaseException], kind: str) -> float | None:
    if kind not in ("quota", "provider"):
        return None
    text = _text(chain)
    told = retry_after(chain, text)
    if told is None and kind == "quota" and not any(sign in text for sign in EXHAUSTED_SIGNS):
        return UNTOLD_WAIT
    return told


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Give an error and what caused it: clients wrap what they raise, and the status is in one of the layers."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _status(chain: Sequence[BaseException]) -> int | None:
    for error in chain:
        response = getattr(error, "response", None)
        in_response = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
        for status in (getattr(error, "status_code", None), getattr(error, "code", None), in_response):
            # a stream that has begun well can still bring an error
            if isinstance(status, int) and status >= 300:
                return status
    return None


def _text(chain: Sequence[BaseException]) -> str:
    # openai and anthropic put the code of an error into its body alone
    return " ".join(f"{type(error).__name__} {error} {getattr(error, 'body', '')}" for error in chain).lower()


def _sort(chain: Sequence[BaseException]) -> tuple[str, str]:
    status, text = _status(chain), _text(chain)
    if status in (401, 403) or (status == 400 and any(sign in text for sign in WRONG_KEY_SIGNS)):
        return "authentication", "The model provider refused the API key. Enter the key again in the AI profile."
    if status == 404:
        return "not_found", "The provider has no model {model} at this address. Check the model and the base URL."
    too_long = any(sign in text for sign in TOO_LONG_SIGNS)
    if (status in (400, 413, 422, 500) and too_long) or (status in (413, 429) and TOO_LARGE_FOR_A_MINUTE in text):
        return "too_long", "The conversation is too long for the model {model}. Start a new one."
    if status in (402, 429):
        return "quota", QUOTA
    if status is not None and 300 <= status < 400:
        return "moved", "The model provider has moved. Put its final address into the configuration's base URL."
    if status is not None and status >= 500:
        return "provider", FAULT
    if status is not None:
        return "refused", "The model provider refused the request. Check the configuration's model and options."
    if any(sign in text for sign in QUOTA_SIGNS):
        return "quota", QUOTA
    if any(sign in text for sign in OVERLOAD_SIGNS):
        return "provider", FAULT
    names = " ".join(type(error).__name__ for error in chain)
    if any(isinstance(error, TimeoutError) for error in chain) or "Timeout" in names:
        return "timeout", "The model sent nothing for too long. Try again, or choose another model."
    if any(sign in names for sign in ("Connect", "Protocol", "ReadError", "ResponseStreaming")):
        return "unreachable", "The model provider cannot be reached. Check the base URL and the network."
    return "not_a_model", "What answers at the base URL does not speak the provider's protocol. Check the base URL."
