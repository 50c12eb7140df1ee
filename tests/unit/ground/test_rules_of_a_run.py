"""What `tests/conftest.py` makes of a run: skipped labs, logs, tracebacks, violations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ground.lab_tools import UBRIDGE_MODULE
from tests.unit.ground.test_server_parts import OURS

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[3]
CONFTEST = """
from tests.conftest import *

from tests.ground import lab_tools
lab_tools.ubridge = lambda: None

@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    server = GNS3Server(tmp_path_factory.mktemp("never-started"), copilot=False)
    server.log_path.write_text("2026-01-01 10:00:00 INFO a:1 before the test\\\\n")
    yield server
    server.discard()

@pytest.fixture
def admin(): ...

@pytest.fixture
def project(): ...
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run test code under our conftest and give the outcome."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("COPILOT_REQUIRE_LAB", raising=False)
    pytester.makeini("[pytest]\nasyncio_mode = auto\naddopts = --strict-markers -p no:cacheprovider\n")
    pytester.makeconftest(CONFTEST.replace("\\\\n", "\\n"))

    def run_code(code: str) -> pytest.RunResult:
        pytester.makepyfile(test_inner=f"import pytest\n\n{code}")
        return pytester.runpytest_subprocess("-rs")

    return run_code


LAB_TEST = '@pytest.mark.lab("vpcs")\nasync def test_lab(lab): ...\n'


def test_a_lab_that_cannot_be_had_is_skipped_with_the_reason(run) -> None:
    result = run(LAB_TEST)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines([f"SKIPPED*there is no ubridge: {UBRIDGE_MODULE}*"])


def test_where_labs_are_required_a_skipped_one_fails(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_REQUIRE_LAB", "1")
    result = run(LAB_TEST + "\n@pytest.mark.lab\ndef test_other(): pytest.skip('no luck')\n\n"
                 "def test_without_lab(): pytest.skip('fine')\n")  # fmt: skip
    result.assert_outcomes(errors=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*this lab test cannot run: *there is no ubridge*"])
    result.stdout.fnmatch_lines(["*this lab test cannot run: *no luck*"])


def test_a_failed_test_shows_what_the_server_has_logged_meanwhile(run) -> None:
    result = run(
        "def test_failing(gns3_server):\n"
        "    with gns3_server.log_path.open('a') as log: log.write('2026-01-01 10:00:01 INFO a:1 during the test\\n')\n"
        "    assert False\n"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*log of gns3server at http*", "*during the test"])
    result.stdout.no_fnmatch_line("*before the test*")


def test_a_traceback_of_ours_fails_the_test_that_caused_it(run) -> None:
    write = f"    with gns3_server.log_path.open('a') as log: log.write({OURS!r})\n"
    result = run(
        f"def test_causing(gns3_server):\n{write}\n"
        f"def test_expecting(gns3_server):\n    with gns3_server.expected_traceback('ValueError'):\n    {write}\n"
        "def test_after(gns3_server): ...\n"
    )
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_causing*", "*tracebacks of the copilot*"])


def test_a_question_that_no_strict_provider_takes_fails_the_test(run) -> None:
    result = run(
        "import httpx\n"
        "from tests.ground.model_script import text\n"
        "def test_asking(model_server):\n"
        "    model_server.script(text('hi'))\n"
        "    body = {'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]}\n"
        "    assert httpx.post(f'{model_server.base_url}/chat/completions', json=body).is_success\n"
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the list starts with*user*"])
