"""Requests that change an LLM configuration or a group's policy."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gns3server_copilot.schemas.llm_configs import (
    BaseUrl,
    ContextLimit,
    CustomName,
    CustomValue,
    Line,
    MaybeTemperature,
    MaybeWholeNumber,
    ModelType,
    ProviderName,
    Secret,
    StoredMode,
    Strategy,
    Switch,
    read_number,
)
from gns3server_copilot.schemas.modes import Mode


def _absent() -> Any:
    return None


#: Optional, and without a default in the API's description: there is none, what is absent stays as it is stored.
ABSENT: Any = Field(default_factory=_absent)
Version = Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(read_number)]


class UpdateLLMConfig(BaseModel):
    """Changes of a configuration: what is absent stays as it is, and must not be read here.

    The rules for each field are those of `CreateLLMConfig`. What a change means together with what is stored is
    decided by `llm.merge`.
    """

    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)

    name: Annotated[Line, Field(max_length=100)] = ABSENT
    model_type: ModelType = ABSENT
    provider: ProviderName = ABSENT
    model: Annotated[Line, Field(max_length=200)] = ABSENT
    context_limit: ContextLimit = ABSENT
    base_url: BaseUrl = ABSENT
    temperature: MaybeTemperature = ABSENT
    max_tokens: MaybeWholeNumber = ABSENT
    context_strategy: Strategy = ABSENT
    copilot_mode: StoredMode = ABSENT
    is_default: Switch = ABSENT
    api_key: Secret = Field(
        default_factory=_absent, description="Absent: the stored key stays. Null or empty: it is removed."
    )
    aws_access_key_id: Secret = ABSENT
    aws_secret_access_key: Secret = ABSENT
    expected_version: Version = Field(
        None, description="Change the configuration only if this is its version; 409 otherwise."
    )

    __pydantic_extra__: dict[CustomName, CustomValue] = Field(init=False)

    @property
    def given(self) -> dict[str, Any]:
        """What the request carries, custom fields included."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"expected_version"}}

    @property
    def custom_fields(self) -> dict[str, Any]:
        """The unknown keys, as they came."""
        return self.__pydantic_extra__


class DeleteLLMConfig(BaseModel):
    """What a request that deletes a configuration may carry."""

    expected_version: Version = None


class LLMPolicy(BaseModel):
    """What a group allows its members. A request replaces the whole policy: what is absent is allowed."""

    model_config = ConfigDict(extra="forbid")

    allowed_modes: list[Mode] | None = Field(None, description="Absent or null: all modes.")
    own_configs: bool = Field(True, description="Members may have configurations of their own.")
    may_inject: bool = Field(True, description="Members may have faults injected.")
