"""Sets of motions on disk, a cache of results computed from them, and runners for heavy work."""

from marey.deprecation import renamed_names
from marey.store.building import SkippedFile
from marey.store.cache import Cache
from marey.store.cluster import Cluster, cluster
from marey.store.labels import LabelRow, add_label, read_label_csv
from marey.store.motion_set import Group, MotionSet
from marey.store.run import Processes, Run, Threads, processes, run_on, threads
from marey.store.settings import OpenSettings
from marey.store.summary import ClipSearchSettings, ClipSummary, read_descriptions, search_clips

__all__ = [
    "Cache",
    "ClipSearchSettings",
    "ClipSummary",
    "Cluster",
    "Group",
    "LabelRow",
    "MotionSet",
    "OpenSettings",
    "Processes",
    "Run",
    "SkippedFile",
    "Threads",
    "add_label",
    "cluster",
    "processes",
    "read_descriptions",
    "read_label_csv",
    "run_on",
    "search_clips",
    "threads",
]

__getattr__ = renamed_names(__name__, {"Skipped": "SkippedFile"})
