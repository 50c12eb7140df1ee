"""Whether a configuration's model runs on the server's own machine, so that what it is sent does not leave it."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import effective_url
from gns3server_copilot.settings import Settings

#: Ollama hands models of such names on to its own cloud, whatever its address is.
CLOUD_MODEL = re.compile(r"[:-]cloud$", re.IGNORECASE)


def hides_secrets(config: LLMConfig, settings: Settings) -> bool:
    """Tell whether secrets of devices are kept from this model, by the setting `redact_secrets`."""
    if settings.redact_secrets == "auto":
        return not is_local(config)
    return settings.redact_secrets == "true"


def is_local(config: LLMConfig) -> bool:
    """Tell whether the model is the built-in one, or is reached at a loopback address.

    Other addresses of one's own network do not count: nothing says who else sees what goes there.
    """
    if config.provider == "offline":
        return True
    if config.provider == "ollama" and CLOUD_MODEL.search(config.model):
        return False
    try:
        host = urlsplit(effective_url(config.provider, config.base_url, config.custom)).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
