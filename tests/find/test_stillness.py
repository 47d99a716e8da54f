"""The distance of an interval from standing still: the kernel against the grid of the interval."""

from dataclasses import replace

import numpy as np
import pytest

from marey.edit import resample
from marey.find import MatchWeb, WebSettings
from marey.find.search import Query, make_stillness
from tests.find.searched import clips, truth, web
from tests.twins import stillness as twin


def stretches(n_frames):
    rng = np.random.default_rng(3)
    inside = [(int(a), int(a + n)) for a, n in zip(rng.integers(5, 100, 6), rng.integers(4, 60, 6), strict=True)]
    # The clip with windows that its ends cut, and the whole clip.
    return [*inside, (0, 12), (1, 9), (n_frames - 20, n_frames), (n_frames - 9, n_frames - 1), (0, n_frames)]


@pytest.mark.parametrize("options", [WebSettings(), WebSettings(markers="upper", remove_height=True, window=0.4)])
def test_the_kernel_gives_what_the_grid_gives(options):
    far = replace(clips()[0], root_positions=clips()[0].root_positions + [400.0, 0.0, -300.0])
    result = MatchWeb.build([far], settings=options)
    still = make_stillness(result)
    for start, stop in stretches(len(far)):
        wanted = twin.stillness(result, result.clips[0], start, stop)
        assert still(0, start, stop) == pytest.approx(wanted, abs=1e-6)


def test_an_action_is_further_than_the_standing_before_it_and_an_outside_one_as_far():
    clip, start, stop = truth("kick")[0]
    still = make_stillness(web())
    assert still(clip, start, stop) > 3 * still(clip, start - 6, start + 4)
    twice = resample(clips()[clip], 60.0)
    query = Query.make(web(), twice, 2 * start, 2 * stop, None)
    assert query.still(*query.interval) == pytest.approx(still(clip, start, stop), rel=0.1)
