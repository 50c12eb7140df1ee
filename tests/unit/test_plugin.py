"""What the plugin adds to gns3-server, and that its lists of paths agree."""

from __future__ import annotations

import re

from starlette.routing import compile_path

from gns3server_copilot import plugin
from gns3server_copilot.api.routing import OUR_PATHS
from gns3server_copilot.autoload import FALLBACK_PATHS


def paths():
    return [re.sub(r"\{\w+\}", "x", route.path) for route in plugin._routes()]


def test_every_route_answers_errors_in_our_way_and_says_why_when_it_cannot_be_loaded():
    fallbacks = [compile_path(path)[0] for path in FALLBACK_PATHS]
    assert len(paths()) > 10
    for path in paths():
        assert OUR_PATHS.match(path), path
        assert any(fallback.match(path) for fallback in fallbacks), path
