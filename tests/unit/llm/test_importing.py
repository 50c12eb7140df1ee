from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from gns3server_copilot.llm.importing import import_quickly


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("broken", [False, True])
def test_the_garbage_collector_is_off_meanwhile_and_then_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collecting: bool, broken: bool
) -> None:
    (tmp_path / "imported_quickly.py").write_text(
        f"import gc\nCOLLECTING = gc.isenabled()\n{'1 / 0' if broken else ''}"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "imported_quickly", raising=False)
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        if broken:
            with pytest.raises(ZeroDivisionError):
                import_quickly("imported_quickly")
        else:
            assert import_quickly("imported_quickly").COLLECTING is False
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
