from . import baselines as baselines
from .blend import blend as blend
from .transition import TransitionPoint as TransitionPoint
from .transition import TransitionSearch as TransitionSearch
from .transition import best_transition as best_transition
from .transition import transition as transition
from .weights import keyed_weights as keyed_weights
