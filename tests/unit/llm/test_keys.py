"""API keys at rest."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.errors import InvalidRequestError, UnavailableError
from gns3server_copilot.llm.keys import ENVIRONMENT_VARIABLE, KEY_FILE, KeyRing, key_id


def new_key() -> str:
    return Fernet.generate_key().decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def ring(folder: Path) -> KeyRing:
    return KeyRing(folder, environment={})


async def test_an_encrypted_text_comes_back(ring: KeyRing) -> None:
    token, _ = await ring.encrypt("sk-0123456789")
    assert "sk-0123456789" not in token
    assert await ring.decrypt(token) == "sk-0123456789"


async def test_the_key_file_is_made_at_the_first_encryption_for_its_owner_alone(ring: KeyRing, folder: Path) -> None:
    assert list(folder.iterdir()) == []
    old = os.umask(0)
    try:
        _, used = await ring.encrypt("text")
    finally:
        os.umask(old)
    file = folder / KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [file.name] == os.listdir(folder)
    assert used == key_id(file.read_text().strip())


async def test_a_decryption_makes_no_key_file(ring: KeyRing, folder: Path) -> None:
    with pytest.raises(InvalidRequestError, match="Enter the API key again"):
        await ring.decrypt(Fernet(new_key()).encrypt(b"text").decode())
    assert list(folder.iterdir()) == []


async def test_a_second_ring_uses_the_first_ones_key(ring: KeyRing, folder: Path) -> None:
    token, used = await ring.encrypt("text")
    other = KeyRing(folder, environment={})
    assert await other.decrypt(token) == "text"
    assert (await other.encrypt("text"))[1] == used


async def test_many_first_encryptions_at_once_make_one_key(folder: Path) -> None:
    rings = [KeyRing(folder, environment={}) for _ in range(20)]
    used = await asyncio.gather(*(ring.encrypt("text") for ring in rings))
    assert len({id for _, id in used}) == 1


def test_two_processes_at_once_make_one_key(folder: Path) -> None:
    program = (
        "import asyncio, sys; from gns3server_copilot.llm.keys import KeyRing;"
        " print(asyncio.run(KeyRing(sys.argv[1], environment={}).encrypt('text'))[1])"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert len({process.communicate(timeout=60)[0] for process in started}) == 1


async def test_a_key_file_that_another_process_is_filling_is_waited_for(ring: KeyRing, folder: Path) -> None:
    file = folder / KEY_FILE
    file.touch()
    encrypting = asyncio.create_task(ring.encrypt("text"))
    await asyncio.sleep(0.1)
    key = new_key()
    file.write_text(key)
    assert (await encrypting)[1] == key_id(key)


async def test_all_keys_decrypt_and_the_newest_encrypts(folder: Path) -> None:
    old, new = new_key(), new_key()
    token = Fernet(old).encrypt(b"text").decode()
    (folder / KEY_FILE).write_text(f"{new}\n{old}\n\n")
    ring = KeyRing(folder, environment={})
    assert await ring.decrypt(token) == "text"
    assert (await ring.encrypt("text"))[1] == key_id(new)


async def test_a_running_server_follows_a_change_of_the_key_file(ring: KeyRing, folder: Path) -> None:
    token, used = await ring.encrypt("text")
    file, new = folder / KEY_FILE, new_key()
    file.write_text(f"{new}\n{file.read_text()}")
    assert (await ring.encrypt("text"))[1] == key_id(new) != used
    assert await ring.decrypt(token) == "text"


async def test_the_environment_wins_over_the_file(ring: KeyRing, folder: Path) -> None:
    await ring.encrypt("text")
    first, second = new_key(), new_key()
    for between in (",", "\n", " , "):
        given = KeyRing(folder, environment={ENVIRONMENT_VARIABLE: f"{first}{between}{second}\n"})
        assert (await given.encrypt("text"))[1] == key_id(first)
        assert await given.decrypt(Fernet(second).encrypt(b"text").decode()) == "text"


async def test_a_lost_key_says_what_to_do(ring: KeyRing, folder: Path) -> None:
    token, _ = await ring.encrypt("text")
    (folder / KEY_FILE).unlink()
    with pytest.raises(InvalidRequestError, match="Enter the API key again"):
        await ring.decrypt(token)
    await ring.encrypt("other")
    with pytest.raises(InvalidRequestError, match="Enter the API key again"):
        await ring.decrypt(token)


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "hunter2", new_key()[:-5], new_key() + "\nhunter2\n", "\x00\xff"],
    ids=["empty", "blank", "no key", "cut", "a key and more", "binary"],
)
async def test_a_damaged_key_file_is_named_and_left_alone(folder: Path, content: str) -> None:
    file = folder / KEY_FILE
    file.write_text(content, encoding="latin-1")
    ring = KeyRing(folder, environment={})
    for attempt in (ring.encrypt("text"), ring.decrypt("token")):
        with pytest.raises(UnavailableError, match=KEY_FILE) as raised:
            await attempt
        for part in content.split():
            assert part not in str(raised.value)
        assert raised.value.__cause__ is None
    assert file.read_text(encoding="latin-1") == content
    assert ring.status().problem is not None


async def test_a_damaged_variable_is_named_without_its_value() -> None:
    ring = KeyRing("/nonexistent", environment={ENVIRONMENT_VARIABLE: "hunter2"})
    with pytest.raises(UnavailableError, match=ENVIRONMENT_VARIABLE) as raised:
        await ring.encrypt("text")
    assert "hunter2" not in str(raised.value)


async def test_a_missing_secrets_folder_is_an_error_and_not_made(folder: Path) -> None:
    with pytest.raises(UnavailableError):
        await KeyRing(folder / "missing", environment={}).encrypt("text")
    assert not (folder / "missing").exists()


async def test_status_tells_of_source_and_number(ring: KeyRing, folder: Path) -> None:
    assert (ring.status().keys, ring.status().problem) == (0, None)
    await ring.encrypt("text")
    assert (ring.status().keys, ring.status().source) == (1, str(folder / KEY_FILE))
    given = KeyRing(folder, environment={ENVIRONMENT_VARIABLE: f"{new_key()},{new_key()}"})
    assert given.status().keys == 2
    assert ENVIRONMENT_VARIABLE in given.status().source


async def test_nothing_shows_a_key(ring: KeyRing, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token, _ = await ring.encrypt("sk-0123456789")
    await ring.decrypt(token)
    key = (folder / KEY_FILE).read_text().strip()
    for shown in (repr(ring), repr(ring.status()), repr(vars(ring)), caplog.text):
        assert key not in shown
        assert "sk-0123456789" not in shown


@given(st.text())
def test_every_text_survives(text: str) -> None:
    ring = KeyRing("/nonexistent", environment={ENVIRONMENT_VARIABLE: "A" * 43 + "="})
    assert ring._decrypt(ring._encrypt(text)[0]) == text


@given(st.text())
def test_nonsense_instead_of_a_token_is_a_clear_error(token: str) -> None:
    ring = KeyRing("/nonexistent", environment={ENVIRONMENT_VARIABLE: "A" * 43 + "="})
    with pytest.raises(InvalidRequestError):
        ring._decrypt(token)
