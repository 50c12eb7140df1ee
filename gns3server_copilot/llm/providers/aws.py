"""Models on Amazon Bedrock, through its Converse interface."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.session import Session
from langchain_aws import ChatBedrockConverse
from langchain_core.language_models import BaseChatModel

from gns3server_copilot import __version__
from gns3server_copilot.errors import InvalidRequestError, ModelError
from gns3server_copilot.llm.addresses import check_resolved
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import effective_url
from gns3server_copilot.llm.providers.connection import CONNECT_SECONDS
from gns3server_copilot.llm.providers.custom_fields import custom_fields

#: The client reads in a thread, which an abort cannot stop: this is how long it may then still wait.
READ_SECONDS = 120.0
#: Variables of botocore that stay the server's: which certificate authorities to trust.
KEPT_VARIABLES = {"ca_bundle"}
#: What of botocore's own headers goes out, besides those of the signature.
KEPT_HEADERS = {"accept", "content-type", "content-length", "user-agent"}


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration. The region is the custom field `region_name`; a stored key is not used.

    Raises InvalidRequestError without a region, or without credentials when the server's own are not to be used.
    """
    custom = dict(config.custom)
    region = custom.pop("region_name", None) or custom.pop("region", None)
    if not isinstance(region, str):
        raise InvalidRequestError(
            "The provider aws needs to know a region. Add the custom field region_name, for example us-east-1."
        )
    if config.model.startswith("arn:"):
        raise InvalidRequestError("The provider aws needs the model's id, not its ARN. Correct the model.")
    options = custom_fields(ChatBedrockConverse, custom)
    address = effective_url("aws", config.base_url, {"region_name": region})
    client = _client(config, region, address, options)
    options |= {
        "model": config.model,
        "region_name": region,
        "base_url": address,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "client": client,
        # asked about inference profiles only, which are not needed here: the same client saves making another
        "bedrock_client": client,
    }
    # the client has them; here they would be taken from the environment
    options |= dict.fromkeys(("api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"))
    return ChatBedrockConverse(**options)


def _client(config: LLMConfig, region: str, address: str, options: dict[str, Any]) -> Any:
    timeout = options.pop("timeout", None) or READ_SECONDS
    attempts = int(options.pop("max_retries", None) or 0) + 1  # retries are the turn's
    client_config = Config(
        signature_version="v4",  # or a bearer token of the environment would be preferred
        connect_timeout=CONNECT_SECONDS,
        read_timeout=timeout,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        user_agent=f"gns3server-copilot/{__version__}",
        ignore_configured_endpoint_urls=True,
        use_fips_endpoint=False,
        use_dualstack_endpoint=False,
    )
    session = boto3.Session(botocore_session=_session(config), region_name=region)
    client = session.client("bedrock-runtime", endpoint_url=address, config=client_config)
    events: Any = client.meta.events
    events.register("before-sign.bedrock-runtime.*", _keep_headers)
    events.register("before-send.bedrock-runtime.*", _judge_address)
    return client


def _session(config: LLMConfig) -> Session:
    """Give a session that knows the configuration's credentials and nothing of the server's environment and files."""
    key_id = config.secrets.get("aws_access_key_id")
    secret = config.secrets.get("aws_secret_access_key")
    if key_id is None and secret is None and config.ambient_credentials:
        return Session()
    if key_id is None or secret is None:
        raise InvalidRequestError(
            "This configuration holds no AWS credentials. Enter aws_access_key_id and aws_secret_access_key in it."
        )
    variables = {
        name: (None, None, default, conversion)
        for name, (_, _, default, conversion) in Session.SESSION_VARIABLES.items()
        if name not in KEPT_VARIABLES
    }
    for name in ("config_file", "credentials_file"):
        variables[name] = (None, None, os.devnull, None)
    session = Session(session_vars=variables)
    session.set_credentials(key_id.get_secret_value(), secret.get_secret_value())
    return session


def _keep_headers(request: Any, **_: Any) -> None:
    """Drop what botocore tells of the server, before the request is signed."""
    for name in list(request.headers):
        if name.lower() not in KEPT_HEADERS:
            del request.headers[name]
    request.headers.replace_header("User-Agent", f"gns3server-copilot/{__version__}")


def _judge_address(request: Any, **_: Any) -> None:
    # botocore looks the name up once more for itself: a name that changes in between is not noticed here
    parts = urlsplit(request.url)
    try:
        check_resolved(parts.hostname or "", parts.port)
    except OSError:
        raise ModelError("The host of the base URL is not known. Check the base URL.", "unreachable") from None
