"""Contacts and labels of a blend (Kovar 5.14)."""

import numpy as np

from marey.blend.contacts import blend_contacts, blend_labels
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.register.matches import ConstraintMatch
from marey.samples import straight_walk

U = np.linspace(0.0, 1.0, 101)
WALK = straight_walk(seconds=1.0, fps=50)
TIMES = np.tile(U[:, None], (1, 2)) * WALK.duration


def with_contacts(mask_columns, offset=0.0):
    from dataclasses import replace

    points = tuple(ContactPoint(name, 2, [offset, 0.0, 0.0]) for name in mask_columns)
    mask = np.stack(list(mask_columns.values()), axis=1)
    return replace(WALK, contacts=Contacts(points, mask))


NOTHING = np.zeros(len(WALK), dtype=bool)
PAIR = [with_contacts({"left_heel": NOTHING}, 0.1), with_contacts({"left_heel": NOTHING}, 0.2)]


def held(match, weights, **options):
    weights = np.broadcast_to(weights, (len(U), 2))
    return blend_contacts(PAIR, [match], U, TIMES, weights, **options)


def test_a_match_holds_from_its_mean_start_to_its_mean_stop():
    match = ConstraintMatch("left_heel", np.array([0.105, 0.305]), np.array([0.405, 0.805]))
    contacts = held(match, [0.75, 0.25])
    np.testing.assert_array_equal(contacts.mask[:, 0], (U > 0.155) & (U < 0.505))
    np.testing.assert_allclose(contacts.points[0].offset, [0.125, 0.0, 0.0])


def test_changing_weights_move_the_ends():
    match = ConstraintMatch("left_heel", np.array([0.1, 0.1]), np.array([0.3, 0.9]))
    weights = np.stack([1.0 - U, U], axis=1)
    mask = blend_contacts(PAIR, [match], U, TIMES, weights).mask[:, 0]
    np.testing.assert_array_equal(mask[1:-1], ((U >= 0.1) & (U < 0.3 + 0.6 * U))[1:-1])


def test_contacts_at_the_very_ends_last_to_the_first_and_last_frame():
    match = ConstraintMatch("left_heel", np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    assert held(match, [0.5, 0.5]).mask.all()


def test_contacts_across_the_seam_of_loops():
    match = ConstraintMatch("left_heel", np.array([0.905, 0.805]), np.array([1.205, 1.105]))
    mask = held(match, [0.5, 0.5], cyclic=True).mask[:, 0]
    np.testing.assert_array_equal(mask, (U > 0.855) | (U < 0.155))


def test_all_the_weight_on_one_motion_gives_its_own_contacts():
    down = NOTHING.copy()
    down[10:20] = True
    pair = [with_contacts({"left_heel": down}), with_contacts({"left_heel": NOTHING})]
    weights = np.broadcast_to([1.0, 0.0], (len(WALK), 2))
    seconds = np.tile(np.arange(len(WALK))[:, None] / WALK.fps, (1, 2))
    mask = blend_contacts(pair, [], seconds[:, 0] / WALK.duration, seconds, weights).mask[:, 0]
    np.testing.assert_array_equal(mask, down)


def test_motions_without_contacts_give_none():
    from dataclasses import replace

    bare = replace(WALK, contacts=None)
    assert blend_contacts([bare, bare], [], U, TIMES, np.full((len(U), 2), 0.5)) is None


def test_labels_of_half_the_weight_hold():
    from dataclasses import replace

    n = len(WALK)
    a = replace(WALK, labels=Labels((Label("walk", 0, n),)))
    b = replace(WALK, labels=Labels((Label("run", 10, n),)))
    seconds = np.tile(np.arange(n)[:, None] / WALK.fps, (1, 2))

    def labels(w):
        return set(blend_labels([a, b], seconds, np.broadcast_to([1.0 - w, w], (n, 2))))

    assert labels(0.0) == labels(0.4) == {("walk", 0, n)}
    assert labels(0.5) == {("walk", 0, n), ("run", 10, n)}
    assert labels(0.7) == {("run", 10, n)}
