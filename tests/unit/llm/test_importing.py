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


def test_later_collections_do_not_look_at_what_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_to_stay.py").write_text("OBJECTS = [[] for _ in range(1000)]")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "imported_to_stay", raising=False)
    gc.unfreeze()
    try:
        module = import_quickly("imported_to_stay")
        frozen = gc.get_freeze_count()
        assert frozen > 1000
        assert not any(one is module.OBJECTS for one in gc.get_objects())
        import_quickly("imported_to_stay")
        assert gc.get_freeze_count() <= frozen, "an import that was made before changes nothing"
    finally:
        gc.unfreeze()
