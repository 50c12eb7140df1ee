"""How Sphinx builds these pages: `./run docs`."""

from __future__ import annotations

project = "GNS3 Copilot"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
myst_heading_anchors = 3
