"""Places for nodes that nobody placed."""

from __future__ import annotations

import itertools
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.gns3.layout import MAX_COORDINATE, SPACING, free_places, on_canvas

COORDINATE = st.integers(-2000, 2000)
PLACES = st.lists(st.tuples(COORDINATE, COORDINATE), max_size=40)


@given(st.integers(0, 25), PLACES)
def test_places_keep_their_distance_and_come_in_reading_order(count: int, occupied: list[tuple[int, int]]) -> None:
    places = free_places(count, occupied)
    assert len(places) == count
    for one, other in itertools.combinations(places, 2):
        assert math.dist(one, other) >= SPACING
    for one, other in itertools.product(places, occupied):
        assert math.dist(one, other) >= SPACING
    assert places == sorted(places, key=lambda place: (place[1], place[0]))


def test_an_empty_project_is_filled_from_the_middle() -> None:
    assert free_places(1, []) == [(0, 0)]
    assert free_places(3, []) == [(-250, 0), (0, 0), (250, 0)]
    assert set(free_places(9, [])) == {(x, y) for x in (-250, 0, 250) for y in (-250, 0, 250)}


def test_new_nodes_come_near_the_old_ones() -> None:
    places = free_places(4, [(5000, 3000), (5100, 3000)])
    assert all(math.dist(place, (5050, 3000)) < 800 for place in places)


def test_a_large_project_is_laid_out_quickly() -> None:
    occupied = free_places(2000, [])
    begun = time.perf_counter()
    free_places(200, occupied)
    assert time.perf_counter() - begun < 1.0


@pytest.mark.parametrize(
    ("given_coordinate", "placed"),
    [(1.4, 1), (-1.6, -2), (1e9, MAX_COORDINATE), (-1e300, -MAX_COORDINATE), (0, 0)],
)
def test_coordinates_are_whole_and_on_the_canvas(given_coordinate: float, placed: int) -> None:
    assert on_canvas(given_coordinate) == placed
