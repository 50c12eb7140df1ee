from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.demo.bench import GI0, GI1, Bench, router_config


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty bench."""
    return Bench(tmp_path)


@pytest.fixture
def pair(bench: Bench) -> Bench:
    """PC1 - R1 - R2 - PC2, as in the demo, just switched on."""
    bench.add_router("R1", router_config(1))
    bench.add_router("R2", router_config(2))
    bench.add_pc("PC1", "192.168.1.10/24", "192.168.1.1")
    bench.add_pc("PC2", "192.168.2.10/24", "192.168.2.1")
    bench.connect(("R1", GI0), ("R2", GI0))
    bench.connect(("R1", GI1), ("PC1", "eth0"))
    bench.connect(("R2", GI1), ("PC2", "eth0"))
    return bench
