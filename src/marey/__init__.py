"""marey: motion capture in, new controllable human motion out.

>>> import marey
>>> walk = marey.samples.sample("walk").motion
>>> marey.save(marey.clean(walk), "walk.bvh")
>>> marey.load("walk.bvh")
<Motion 'walk': 361 frames at 60 Hz, 27 joints>

Distances are in meters, angles in radians, times in seconds; Y is up. See the README for a tour.
"""

import lazy_loader

__version__ = "1.0.0rc1"

# Everything public is listed in __init__.pyi and imported on first use, because `import marey` and the command line
# must start fast. `blend`, `check`, `clean`, `register` and `measure` are both functions and packages. For these names,
# lazy_loader (0.6 or later) makes this module refuse the submodule as an attribute: `marey.blend` is always the
# function, whatever was imported before. Import statements find the package as usual: `from marey.blend import
# baselines`. Only `import marey.blend as b`, which reads the attribute, gives the function.
__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)

# `from marey import *` leaves out the packages: `io`, for example, would hide the standard library's module.
_PACKAGES = {
    *("compare", "control", "core", "edit", "errors", "find", "graph", "io"),
    *("layer", "maths", "parametric", "plot", "pmg", "samples", "store"),
}
__all__ = ["__version__", *(name for name in _names if name not in _PACKAGES)]
