from .loading import clip_names as clip_names
from .loading import load as load
from .loading import load_markers as load_markers
from .loading import load_motion as load_motion
from .rest import starts_with_rest_pose as starts_with_rest_pose
from .rest import trim_rest_pose as trim_rest_pose
from .saving import save as save
from .sidecar import sidecar_path as sidecar_path
