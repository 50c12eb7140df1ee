"""Which configuration a turn uses."""

from __future__ import annotations

import uuid

import pytest

from gns3server_copilot.errors import ForbiddenError, InvalidRequestError, NotFoundError
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.resolve import effective_config
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.schemas.identity import User
from tests.unit.llm.samples import new


def as_user(owner: Owner) -> User:
    return User(owner.id, "alice", False)


async def test_without_configurations_the_person_is_told_what_to_do(store: ConfigStore, alice: Owner) -> None:
    with pytest.raises(InvalidRequestError, match="AI profile, or ask an admin"):
        await effective_config(store, as_user(alice), None)


async def test_the_oldest_is_used_until_one_is_marked(store: ConfigStore, alice: Owner) -> None:
    await store.create_config(alice, new("vectors", model_type="embedding"))
    await store.create_config(alice, new("oldest"))
    marked = await store.create_config(alice, new("marked", model_type="multimodal"))
    assert (await effective_config(store, as_user(alice), None))[0].name == "oldest"
    await store.set_default(alice, marked.config_id)
    assert (await effective_config(store, as_user(alice), None))[0].name == "marked"


async def test_models_that_cannot_chat_are_no_default(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(alice, new("vectors", model_type="embedding"))
    with pytest.raises(InvalidRequestError, match="No language model"):
        await effective_config(store, as_user(alice), None)
    with pytest.raises(InvalidRequestError, match="cannot chat"):
        await effective_config(store, as_user(alice), made.config_id)


async def test_a_turn_may_name_its_configuration(store: ConfigStore, alice: Owner, bob: Owner) -> None:
    await store.create_config(alice, new("default", is_default=True))
    other = await store.create_config(alice, new("other"))
    assert (await effective_config(store, as_user(alice), other.config_id))[0].name == "other"
    with pytest.raises(NotFoundError):
        await effective_config(store, as_user(alice), str(uuid.uuid4()))
    with pytest.raises(ForbiddenError):
        await effective_config(store, as_user(bob), other.config_id)
