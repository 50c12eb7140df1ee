"""Configurations in a real gns3-server database."""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gns3server_copilot.errors import ConflictError, ForbiddenError, InvalidRequestError, NotFoundError
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.keys import KEY_FILE
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.schemas.modes import Mode
from tests.unit.llm.host_database import Database
from tests.unit.llm.samples import new

KEY = "sk-0123456789abcdef"


async def defaults(store: ConfigStore, owner: Owner) -> list[str]:
    return [config.name for config in await store.list_configs(owner) if config.is_default]


async def test_a_created_configuration_comes_back(store: ConfigStore, alice: Owner) -> None:
    before = datetime.now(UTC)
    made = await store.create_config(alice, new(temperature="0.5", base_url="http://10.0.0.1/v1", top_p="0.9"))
    assert await store.list_configs(alice) == [made]
    assert await store.get_config(alice, made.config_id) == made
    assert made.owner == alice
    assert made.version == 0
    assert before <= made.created_at == made.updated_at <= datetime.now(UTC)
    assert made.config == {
        "provider": "openai",
        "base_url": "http://10.0.0.1/v1",
        "model": "gpt",
        "temperature": 0.5,
        "max_tokens": None,
        "context_limit": 128,
        "context_strategy": "balanced",
        "copilot_mode": "teaching_assistant",
        "top_p": "0.9",
    }


async def test_lists_go_from_the_oldest_to_the_newest(store: ConfigStore, alice: Owner) -> None:
    names = [f"c{number}" for number in range(9, 0, -1)]
    for name in names:
        await store.create_config(alice, new(name))
    assert [config.name for config in await store.list_configs(alice)] == names


async def test_the_key_is_encrypted_in_the_database(store: ConfigStore, alice: Owner, database: Database) -> None:
    made = await store.create_config(alice, new(api_key=KEY))
    assert (await store.for_use(made)).api_key.get_secret_value() == KEY  # type: ignore[union-attr]
    await database.disconnect()
    content = b"".join(file.read_bytes() for file in database.path.parent.glob(f"{database.path.name}*"))
    assert b"copilot_llm_configs" in content
    assert KEY.encode() not in content
    await database.connect()


async def test_nothing_that_is_shown_holds_the_key(store: ConfigStore, alice: Owner) -> None:
    request = new(api_key=KEY)
    made = await store.create_config(alice, request)
    used = await store.for_use(made)
    token = made.encrypted_api_key
    assert token
    for shown in (repr(request), repr(made), repr(used), str(used.api_key), made.as_answer().model_dump_json()):
        assert KEY not in shown
        assert token not in shown


async def test_answers_have_the_shape_that_clients_read(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(alice, new(api_key=KEY, is_default=True, num_ctx="4096"))
    answer = json.loads(made.as_answer().model_dump_json())
    assert datetime.fromisoformat(answer["created_at"]) == made.created_at
    assert answer["created_at"].endswith("+00:00")
    assert answer == {
        "config_id": made.config_id,
        "name": "main",
        "model_type": "text",
        "config": {
            "provider": "openai",
            "base_url": "",
            "model": "gpt",
            "temperature": None,
            "max_tokens": None,
            "context_limit": 128,
            "context_strategy": "balanced",
            "copilot_mode": "teaching_assistant",
            "api_key": None,
            "num_ctx": "4096",
        },
        "user_id": alice.id,
        "group_id": None,
        "is_default": True,
        "has_api_key": True,
        "key_error": False,
        "version": 0,
        "created_at": answer["created_at"],
        "updated_at": answer["updated_at"],
        "source": "user",
        "group_name": None,
    }


async def test_a_name_is_unique_for_its_owner(store: ConfigStore, alice: Owner, bob: Owner) -> None:
    made = await store.create_config(alice, new(is_default=True))
    with pytest.raises(ConflictError) as raised:
        await store.create_config(alice, new(is_default=True, api_key=KEY))
    assert raised.value.__cause__ is None
    assert await store.list_configs(alice) == [made]
    await store.create_config(bob, new())


async def test_unknown_owners_have_nothing(store: ConfigStore) -> None:
    nobody = Owner("user", str(uuid.uuid4()))
    with pytest.raises(NotFoundError):
        await store.list_configs(nobody)
    with pytest.raises(NotFoundError):
        await store.create_config(nobody, new(api_key=KEY))


async def test_unknown_and_foreign_configurations(store: ConfigStore, alice: Owner, bob: Owner) -> None:
    made = await store.create_config(alice, new())
    for attempt in (store.get_config, store.set_default):
        with pytest.raises(NotFoundError):
            await attempt(alice, str(uuid.uuid4()))
        with pytest.raises(ForbiddenError):
            await attempt(bob, made.config_id)


async def test_a_new_default_takes_the_place_of_the_earlier_one(store: ConfigStore, alice: Owner, bob: Owner) -> None:
    await store.create_config(bob, new("his", is_default=True))
    first = await store.create_config(alice, new("first", is_default=True))
    second = await store.create_config(alice, new("second", is_default=True))
    assert await defaults(store, alice) == ["second"]
    made = await store.set_default(alice, first.config_id)
    assert made.is_default
    assert await defaults(store, alice) == ["first"]
    assert await defaults(store, bob) == ["his"]
    assert made.version == 2
    assert (await store.get_config(alice, second.config_id)).version == 1


async def test_making_the_default_the_default_changes_nothing(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(alice, new(is_default=True))
    assert await store.set_default(alice, made.config_id) == made


async def test_a_refused_default_leaves_the_earlier_one(store: ConfigStore, alice: Owner, bob: Owner) -> None:
    await store.create_config(alice, new("good", is_default=True))
    embedding = await store.create_config(alice, new("vectors", model_type="embedding"))
    foreign = await store.create_config(bob, new("his"))
    for config_id, error in (
        (str(uuid.uuid4()), NotFoundError),
        (foreign.config_id, ForbiddenError),
        (embedding.config_id, InvalidRequestError),
    ):
        with pytest.raises(error):
            await store.set_default(alice, config_id)
        assert await defaults(store, alice) == ["good"]


async def test_of_many_new_defaults_at_once_one_stays(store: ConfigStore, alice: Owner) -> None:
    made = [await store.create_config(alice, new(f"c{number}")) for number in range(5)]
    await asyncio.gather(
        *(store.set_default(alice, config.config_id) for config in made * 4),
        *(store.create_config(alice, new(f"d{number}", is_default=True)) for number in range(5)),
    )
    assert len(await store.list_configs(alice)) == 10
    assert len(await defaults(store, alice)) == 1


async def test_of_many_equal_names_at_once_one_is_made(store: ConfigStore, alice: Owner) -> None:
    outcomes = await asyncio.gather(*(store.create_config(alice, new()) for _ in range(8)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes].count(ConflictError) == 7
    assert len(await store.list_configs(alice)) == 1


async def test_a_configuration_for_use(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(
        alice,
        new(
            api_key=KEY,
            temperature=1,
            max_tokens="500",
            context_strategy="aggressive",
            copilot_mode="lab_automation_assistant",
            top_p="0.9",
        ),
    )
    used = await store.for_use(made)
    assert (used.config_id, used.version, used.name, used.source) == (made.config_id, 0, "main", "user")
    assert (used.provider, used.model, used.base_url) == ("openai", "gpt", "")
    assert (used.temperature, used.max_tokens, used.context_limit, used.context_strategy) == (1, 500, 128, "aggressive")
    assert used.copilot_mode is Mode.LAB_AUTOMATION
    assert used.custom == {"top_p": "0.9"}


async def test_a_lost_encryption_key_breaks_the_use_but_no_list(
    store: ConfigStore, alice: Owner, tmp_path: Path
) -> None:
    made = await store.create_config(alice, new(api_key=KEY))
    (tmp_path / "secrets" / KEY_FILE).unlink()
    assert (await store.list_configs(alice))[0].as_answer().has_api_key
    with pytest.raises(InvalidRequestError, match="Enter the API key again"):
        await store.for_use(made)


async def test_the_offline_model_needs_no_key_even_if_one_is_stored(
    store: ConfigStore, alice: Owner, tmp_path: Path
) -> None:
    made = await store.create_config(alice, new(provider="offline", api_key="dummy-key-0"))
    (tmp_path / "secrets" / KEY_FILE).unlink()
    assert (await store.for_use(made)).api_key is None


async def test_a_stored_row_with_gaps_gets_defaults(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(alice, new())
    for mode in (None, "nonsense", "TEACHING_ASSISTANT", "troubleshooting_injection"):
        made.config.clear()
        made.config["copilot_mode"] = mode
        used = await store.for_use(made)
        assert used.copilot_mode is Mode.TEACHING
        assert (used.context_limit, used.context_strategy, used.temperature) == (128, "balanced", None)
