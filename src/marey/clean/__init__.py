"""Floor detection, contact detection and end-effector cleanup: what the body touches, and how to hold it in place.

`marey.clean` is the function `clean` of this package. Names are listed in __init__.pyi and imported on first use.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(
    __name__,
    __file__,
    {
        "Cleaned": "CleanResult",
        "Found": "ContactResult",
        "Thresholds": "ContactSettings",
        "cleaned": "clean_with_report",
    },
)
