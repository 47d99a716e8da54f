"""The studio: a local web server and a browser page to view, edit and generate motion. See `marey studio`.

`marey.render` and `marey.export_character` are functions of this package. Names are listed in __init__.pyi and imported
on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
