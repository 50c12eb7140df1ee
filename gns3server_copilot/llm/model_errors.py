"""Sorts what a model provider's client raises into plain sentences.

Provider clients share no base class, so the sorting goes by HTTP status and class name. The original text is never
passed on: it can hold a URL with credentials, the key, or the provider's whole answer.
"""

from __future__ import annotations

import logging

from gns3server_copilot.errors import ModelError

log = logging.getLogger(__name__)

TOO_LONG_SIGNS = ("context_length", "context length", "prompt is too long", "maximum context", "exceeds the limit of")


def model_error(error: BaseException, model: str) -> ModelError:
    """Give the ModelError for what ended a model call; one that already is comes back unchanged."""
    if isinstance(error, ModelError):
        return error
    kind, sentence = _sort(error)
    log.warning("Model %s: %s (%s, HTTP status %s)", model, kind, type(error).__name__, _status(error))
    return ModelError(sentence.format(model=model), kind)


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _sort(error: BaseException) -> tuple[str, str]:
    status, name, text = _status(error), type(error).__name__, str(error).lower()
    if status in (401, 403):
        return "authentication", "The model provider refused the API key. Enter the key again in the AI profile."
    if status == 404:
        return "not_found", "The provider has no model {model} at this address. Check the model and the base URL."
    if status == 429:
        return "quota", "The model provider's limit is reached. Wait a moment, or check the account's quota."
    if status in (400, 413) and any(sign in text for sign in TOO_LONG_SIGNS):
        return "too_long", "The conversation is too long for the model {model}. Start a new one."
    if status is not None and 300 <= status < 400:
        return "moved", "The model provider has moved. Put its final address into the configuration's base URL."
    if status is not None and status >= 500:
        return "provider", "The model provider has a fault of its own. Try again in a moment."
    if status is not None:
        return "refused", "The model provider refused the request. Check the configuration's model and options."
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "timeout", "The model sent nothing for too long. Try again, or choose another model."
    if "Connect" in name or "Connection" in name or "Protocol" in name or "Read" in name:
        return "unreachable", "The model provider cannot be reached. Check the base URL and the network."
    return "not_a_model", "What answers at the base URL does not speak the provider's protocol. Check the base URL."
