"""Live playback: controllers that steer a parametric motion graph clip by clip, and other kinds of steerable streams.

Names are listed in __init__.pyi and imported on first use, so using one kind does not load the others.
"""

from marey.deprecation import attach_stub

__getattr__, __dir__, __all__ = attach_stub(
    __name__,
    __file__,
    {
        "Clip": "LoopNode",
        "FatGraph": "baselines.FatGraph",
        "FatGraphStream": "baselines.FatGraphStream",
        "GaitFigures": "GaitMetrics",
        "Layer": "LayerNode",
        "Mix": "MixNode",
        "MoveTree": "baselines.MoveTree",
        "MoveTreeStream": "baselines.MoveTreeStream",
        "Press": "KeyPress",
        "Succession": "baselines.Succession",
        "StreamFigures": "StreamMetrics",
        "clip_figures": "clip_metrics",
        "gait_figures": "gait_metrics",
        "try_stream": "evaluate_stream",
        "try_streams": "evaluate_streams",
    },
)
