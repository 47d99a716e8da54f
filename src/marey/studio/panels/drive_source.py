"""Live source of the Drive panel: it continues from the previous character and measures response times."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from marey.control import GazeLayer, LayeredStream, SpliceLayer
from marey.core.arrays import Floats
from marey.core.kinematics import pose_world, rotate_root
from marey.core.motion import Motion
from marey.core.placement import pose_placement
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.play import SourceFrame, stack_frames, take_frame
from marey.studio.live import LiveFrame
from marey.studio.panels.drive_controllers import Driver
from marey.studio.panels.drive_messages import ControllerKind, ControllerStatistics, DriveRequest

# Half-life (s) of the offset from the previous character's pose; seconds that are kept; distance (m) at which a
# point counts as reached; frames between updates of the direction to a point.
_HALF_LIFE, _KEPT, _REACHED, _STEER = 0.1, 600.0, 0.3, 6
# Maximum bytes of the stored frames, reached only with very many joints, and bytes of overhead per frame.
_MAX_BYTES, _BESIDE = 256 * 2**20, 512
# Decimals of the reported placement: 0.1 mm, and 0.0001 radians.
_DIGITS = 4


class BodyState(NamedTuple):
    """A character as last shown: root position (3,), local rotations (J, 4), and placement (theta, x, z)."""

    skeleton: Skeleton
    root: Floats
    rotations: Floats
    place: Floats


class DriveSource:
    """A live source controlled by the user. Its floor is at height 0, whatever the driver's floor height.

    Parameters
    ----------
    driver : produces the frames.
    record : collects the response times.
    look : whether the head turns toward a new direction before the body does.
    upper : the upper body of another clip.
    """

    def __init__(self, driver: Driver, record: Record, look: bool = False, upper: SpliceLayer | None = None) -> None:
        self.driver = driver
        self._gaze = GazeLayer(cue=True) if look else None
        layers = [layer for layer in (upper, self._gaze) if layer is not None]
        shown = LayeredStream(driver.stream, layers) if layers else driver.stream
        self._interpolated = InterpolatedStream(shown)
        self._floor = driver.stream.floor or 0.0
        self.skeleton, self.fps = self._interpolated.skeleton, self._interpolated.fps
        self.joints, self.parents = self.skeleton.names, tuple(self.skeleton.parents.tolist())
        self._clock = ResponseClock(self.fps, record)
        first = self._interpolated.frame()
        self._first: SourceFrame | None = first
        self._shift: Floats = np.zeros(3)
        self._off: tuple[Floats, Floats] | None = None
        self._since = 0
        self._request = DriveRequest()
        self._going: float | None = None
        self._reached: float | None = None
        size = _BESIDE + 8 * (3 + 7 * len(self.joints))
        n_frames = min(round(_KEPT * self.fps), _MAX_BYTES // size)
        self.max_bytes = n_frames * size
        self._frames: deque[SourceFrame] = deque(maxlen=n_frames)
        placed = self._place_frame(first)
        self._body_state = BodyState(
            self.skeleton, placed.root, placed.rotations, pose_placement(self.skeleton, self._compute_world(placed)[0])
        )

    def continue_from(self, before: BodyState) -> None:
        """Start where another character stands, and in its pose if the skeletons match. Call before the first frame."""
        if self._first is None:
            raise InvalidValue("a character that is already playing cannot start elsewhere")
        self._shift = np.asarray(rigid2d.between(self._body_state.place, before.place))
        root, rotations, *_ = self._place_frame(self._first)
        self._body_state = BodyState(self.skeleton, root, rotations, before.place)
        if self.skeleton.fits(before.skeleton):
            apart = quat.inv_mul(rotations, before.rotations)
            apart = np.where(apart[:, :1] < 0.0, -apart, apart)
            self._off = before.root - root, quat.log(apart)

    @property
    def delay(self) -> float:
        """Display delay in seconds."""
        return self.driver.stream.player.delay + self._interpolated.delay

    @property
    def is_turning(self) -> bool:
        """Whether a requested turn is not complete."""
        return self._clock.waiting is not None

    @property
    def body_state(self) -> BodyState:
        """The character as last shown."""
        return self._body_state

    def request(self, request: DriveRequest) -> None:
        """Set the request, in world coordinates."""
        self._reached = None
        if self._request.point != request.point:
            self._going = None if request.point is None else 0.0
        self._request = request
        self._clock.request(request.direction if request.point is None else None, float(self._body_state.place[0]))
        self._pass_on()

    def frame(self) -> LiveFrame:
        """Return the next frame."""
        given = self._first if self._first is not None else self._interpolated.frame()
        self._first = None
        placed = self._place_frame(given)
        positions, world = self._compute_world(placed)
        self._body_state = BodyState(
            self.skeleton, placed.root, placed.rotations, pose_placement(self.skeleton, positions)
        )
        self._frames.append(placed)
        self._since += 1
        self._clock.step(float(self._body_state.place[0]))
        self._update_destination()
        return LiveFrame(positions, world, self._frame_info())

    def continue_recording(self, before: DriveSource) -> None:
        """Keep the frames of the character that this one replaces, if both can be in one motion."""
        fits = self.skeleton.fits(before.skeleton) and self.fps == before.fps
        if fits and self.driver.stream.points == before.driver.stream.points:
            self._frames.extend(before._frames)

    @property
    def kept_seconds(self) -> float:
        """Length of the recording."""
        return len(self._frames) / self.fps

    def recording(self) -> Motion:
        """Return what was driven so far, up to 10 minutes, as a motion with contacts and labels."""
        rows, stream = list(self._frames), self.driver.stream
        if len(rows) < 2:
            raise InvalidValue("nothing has been driven yet; press Start first")
        source = replace(stream.player.recording_source, floor=0.0)
        return stack_frames(rows, self.skeleton, self.fps, stream.points, name="driven", source=source)

    # --- Placement

    def _compute_world(self, frame: SourceFrame) -> tuple[Floats, Floats]:
        return pose_world(self.skeleton, frame.root, frame.rotations, frame.bones)

    def _place_frame(self, given: SourceFrame) -> SourceFrame:
        """Transform a frame from the driver's coordinates to the world, and fade out the previous character's pose."""
        root = rigid2d.apply(self._shift, given.root) - [0.0, self._floor, 0.0]
        rotations = rotate_root(given.rotations, self._shift)
        if self._off is not None:
            t = self._since / self.fps * 2.0 * math.log(2.0) / _HALF_LIFE
            left = (1.0 + t) * math.exp(-t)
            root = root + left * self._off[0]
            rotations = quat.mul(rotations, quat.exp(left * self._off[1]))
            if left < 1e-4:
                self._off = None
        return given._replace(root=root, rotations=rotations)

    # --- Requests

    def _update_destination(self) -> None:
        """Track progress to a requested point, and update the direction for drivers that accept only directions."""
        if self._going is None or self._request.point is None:
            return
        self._going += 1.0 / self.fps
        place = self._body_state.place
        apart = np.asarray(self._request.point) - place[1:]
        if math.hypot(*apart) < _REACHED:
            self._reached, self._going = self._going, None
            self._request = DriveRequest(
                direction=float(place[0]),
                node=self._request.node,
                speed=self._request.speed,
                values=self._request.values,
                stop=True,
            )
            self._pass_on()
        elif self._since % _STEER == 0:
            self._pass_on()

    def _pass_on(self) -> None:
        """Pass the request to the driver, in the driver's coordinates."""
        request = self._request
        back = rigid2d.invert(self._shift)
        direction, floor, target = request.direction, None, None
        if request.point is not None:
            x, z = np.asarray(request.point) - self._body_state.place[1:]
            direction = math.atan2(x, z)
            floor = rigid2d.apply(back, np.asarray(request.point))
        if request.target is not None:
            target = rigid2d.apply(back, np.asarray(request.target)) + [0.0, self._floor, 0.0]
        asked: Mapping[str, Any] = {
            "direction": None if direction is None else direction - float(self._shift[0]),
            "floor": floor,
            "point": target,
            "node": request.node,
            "speed": request.speed,
            "values": request.values,
            "stop": request.stop,
        }
        self.driver.request(asked)
        if self._gaze is not None and asked["direction"] is not None:
            self._gaze.request(direction=asked["direction"])

    def _frame_info(self) -> dict[str, Any]:
        clock = self._clock
        info: dict[str, Any] = {
            "place": [round(float(value), _DIGITS) for value in self._body_state.place],
            "doing": self.driver.doing,
            "answer": clock.answer,
            "waiting": clock.waiting,
            "reached": self._reached,
            "kept": round(self.kept_seconds, 1),
        }
        place = rigid2d.compose(rigid2d.invert(self._shift), self._body_state.place)
        lines = self.driver.reach(place)
        if lines is not None:
            info["reach"] = [np.round(rigid2d.apply(self._shift, line), 3).tolist() for line in lines]
        return info


# Turns (degrees) by which controllers are compared, and seconds of steady motion before each.
TURNS, _STEADY = (45.0, -90.0, 135.0, -45.0, 90.0, -135.0, 180.0), 2.0


def measure_turn(source: DriveSource, driver: Driver, turn: float) -> None:
    """Let a character turn (degrees), faster than in real time; its record gets the response time."""
    for _ in range(round(_STEADY * source.fps)):
        source.frame()
    source.request(DriveRequest(direction=float(source.body_state.place[0]) + math.radians(turn)))
    driver.finish()
    for _ in range(math.ceil((TIMEOUT + HOLD_SECONDS) * source.fps)):
        if not source.is_turning:
            break
        source.frame()


# Seconds of a character's own motion with which another upper body is synchronized.
_BASE_SECONDS = 8.0


def make_upper(driver: Driver, clip: Motion) -> SpliceLayer:
    """Return a layer that puts the arms and trunk of a clip on a character.

    driver : a driver of the same character, which is not shown.
    """
    from marey.clean import ensure_contacts
    from marey.edit import resample, share_skeleton
    from marey.layer import SpliceSet

    base = driver.stream.record(_BASE_SECONDS)
    _, clip = share_skeleton((base, ensure_contacts(clip)), base)
    layer = SpliceLayer(SpliceSet.build([base, resample(clip, base.fps)]))
    layer.request(upper=clip.name)
    return layer


# Streams below this rate (frames per second) are interpolated.
MIN_FPS = 60.0


class InterpolatedStream:
    """The frames of a stream, interpolated to `times` its rate, at least 60 per second.

    fps : frames per second.
    delay : seconds of delay, in addition to the stream's own; less than one frame of the stream.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.times = max(1, math.ceil(MIN_FPS / stream.fps - 1e-6))
        self.fps = stream.fps * self.times
        self.delay = (self.times - 1) / self.fps
        first = stream.frame()
        self.skeleton = first.skeleton
        self._last = _take(first)
        self._next: SourceFrame | None = self._last
        self._step = 0

    def frame(self) -> SourceFrame:
        """Return the next frame. Contacts and labels in between are those of the previous frame."""
        step, self._step = self._step, (self._step + 1) % self.times
        if self._next is None:
            self._next = _take(self._stream.frame())
        if step:
            return self._interpolate(self._last, self._next, step / self.times)
        self._last, self._next = self._next, None
        return self._last

    def _interpolate(self, last: SourceFrame, after: SourceFrame, alpha: float) -> SourceFrame:
        bones = None
        if last.bones is not None or after.bones is not None:
            own = self.skeleton.offsets
            a, b = (own if frame.bones is None else frame.bones for frame in (last, after))
            bones = a + alpha * (b - a)
        root = last.root + alpha * (after.root - last.root)
        return last._replace(root=root, rotations=quat.slerp(last.rotations, after.rotations, alpha), bones=bones)


def _take(motion: Motion) -> SourceFrame:
    return take_frame(motion)._replace(origin=None)


# As in `marey.control.evaluate`: tolerance of the heading (radians), and seconds for which the heading must hold.
WITHIN, HOLD_SECONDS = math.radians(15.0), 0.25
# Requests that differ by less than `SAME` (radians) count as one. Seconds until a request counts as unanswered.
SAME, TIMEOUT = math.radians(10.0), 8.0
# Seconds that a request must last to count: until then, the user may still be moving the mouse, stick or camera.
SETTLED = 0.5
# Seconds for which a response time is shown.
ANSWER_SECONDS = 5.0
_REMEMBERED = 1_000


@dataclass(slots=True, eq=False)
class Record:
    """Response times of one controller.

    seconds : total time driven. answers : the latest response times in seconds. unanswered : number of turns that were
        not completed.
    """

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    unanswered: int = 0

    def add(self, answer: float) -> None:
        """Add a response time in seconds."""
        self.answers.append(answer)
        del self.answers[:-_REMEMBERED]

    def summarize(self, way: ControllerKind, character: str = "", rate: float = 0.0) -> ControllerStatistics:
        """Return the statistics for the page."""
        median = statistics.median(self.answers) if self.answers else None
        slowest = max(self.answers, default=None)
        return ControllerStatistics(
            way, character, rate, self.seconds, len(self.answers), self.unanswered, median, slowest
        )


class ResponseClock:
    """Measures the response to changes of direction, frame by frame.

    A drag or the sweep of a stick gives many requests, of which only the last counts: a request within `SETTLED`
    seconds of the previous one replaces it, and the replaced one does not count as unanswered. So the response time
    starts at the last change by more than `SAME`.
    """

    def __init__(self, fps: float, record: Record) -> None:
        self._step = 1.0 / fps
        self._record = record
        self._wanted: float | None = None
        self._waited: float | None = None
        self._facing = 0.0
        self._last: float | None = None
        self._lasted = 0.0
        self._answered = 0.0
        self.answer: float | None = None

    @property
    def waiting(self) -> float | None:
        """Seconds since the pending request; None if no request is pending."""
        return self._waited

    def request(self, direction: float | None, heading: float) -> None:
        """Record that a character whose heading is `heading` is requested to face `direction`, both in radians."""
        if direction is None:
            self._wanted = self._waited = self._last = None
            return
        is_steady = self._lasted >= SETTLED - 1e-9
        if direction != self._last:
            self._last, self._lasted = direction, 0.0
        if self._wanted is not None and abs(_wrap_angle(direction - self._wanted)) < SAME:
            return
        if self._waited is not None and is_steady:
            self._record.unanswered += 1
        self._wanted, self._facing = direction, 0.0
        # If the character already faces this direction, there is nothing to measure.
        self._waited = 0.0 if abs(_wrap_angle(direction - heading)) > WITHIN else None

    def step(self, heading: float) -> None:
        """Advance by one frame. `heading` is the character's heading in that frame, in radians."""
        self._record.seconds += self._step
        self._lasted += self._step
        self._answered += self._step
        if self._answered > ANSWER_SECONDS:
            self.answer = None
        if self._waited is None or self._wanted is None:
            return
        self._waited += self._step
        self._facing = self._facing + self._step if abs(_wrap_angle(self._wanted - heading)) <= WITHIN else 0.0
        if self._facing >= HOLD_SECONDS - 1e-9:
            self.answer = max(self._waited - self._facing, 0.0)
            self._record.add(self.answer)
            self._waited, self._answered = None, 0.0
        elif self._waited > TIMEOUT:
            self._record.unanswered += 1
            self._waited = None


def _wrap_angle(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)
