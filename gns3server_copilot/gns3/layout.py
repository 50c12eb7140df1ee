"""Where new nodes go on the canvas when nobody says where."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

#: Pixels between two nodes, so that names and link labels stay readable.
SPACING = 250
#: Coordinates beyond this are off every canvas that people use.
MAX_COORDINATE = 50_000

Place = tuple[int, int]


def on_canvas(coordinate: float) -> int:
    """Give the whole number nearest to `coordinate` that is still on the canvas; gns3-server refuses fractions."""
    return round(max(-MAX_COORDINATE, min(MAX_COORDINATE, coordinate)))


def free_places(count: int, occupied: Iterable[Place]) -> list[Place]:
    """Give `count` places, in reading order, at least SPACING px from each other and from all occupied ones.

    They are as near as possible to the middle of what is there, in rows.
    """
    taken = _Taken(occupied)
    places: list[Place] = []
    if count:
        for place in _outwards(taken.middle()):
            if taken.is_free(place):
                places.append(place)
                if len(places) == count:
                    break
    return sorted(places, key=lambda place: (place[1], place[0]))


class _Taken:
    """Occupied places in cells of SPACING px, so that a look at nine cells tells whether a place is free."""

    def __init__(self, occupied: Iterable[Place]) -> None:
        self._cells: dict[Place, list[Place]] = defaultdict(list)
        self._places = list(occupied)
        for place in self._places:
            self._cells[self._cell(place)].append(place)

    def middle(self) -> Place:
        if not self._places:
            return (0, 0)
        x = sum(place[0] for place in self._places) / len(self._places)
        y = sum(place[1] for place in self._places) / len(self._places)
        # on a common grid, so that nodes added one by one still stand in rows
        return (round(x / SPACING) * SPACING, round(y / SPACING) * SPACING)

    def is_free(self, place: Place) -> bool:
        column, row = self._cell(place)
        near = ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
        return all(math.dist(place, other) >= SPACING for cell in near for other in self._cells.get(cell, ()))

    def _cell(self, place: Place) -> Place:
        return (place[0] // SPACING, place[1] // SPACING)


def _outwards(middle: Place) -> Iterator[Place]:
    """Give grid points in squares around `middle`, the nearest square first and in it the nearest row."""
    yield middle
    for ring in range(1, 2 * MAX_COORDINATE):
        span = range(-ring, ring + 1)
        edge = [(i, j) for j in span for i in (span if abs(j) == ring else (-ring, ring))]
        for i, j in sorted(edge, key=lambda point: (abs(point[1]), abs(point[0]))):
            yield (middle[0] + i * SPACING, middle[1] + j * SPACING)
