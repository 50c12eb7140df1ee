"""The words on a project's drawings."""

from __future__ import annotations

from html.parser import HTMLParser

from gns3server_copilot.gns3.text import printable

#: A drawing may hold a whole picture; notes come at its beginning.
MAX_SVG = 100_000


def svg_text(svg: str) -> str:
    """Give the text of a drawing on one line; "" for lines, shapes and pictures."""
    svg = svg[:MAX_SVG]
    if "<text" not in svg:
        return ""
    # An HTML parser because it takes anything, and knows neither entities of its own nor external files.
    reader = _TextReader()
    reader.feed(svg)
    return printable(" ".join(reader.pieces))


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._depth += tag == "text"

    def handle_endtag(self, tag: str) -> None:
        if tag == "text" and self._depth:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.pieces.append(data)
