from .check import check as check
from .clips import check_clips as check_clips
from .clips import warn_of_findings as warn_of_findings
from .files import CheckedFile as CheckedFile
from .files import check_files as check_files
from .report import CheckReport as CheckReport
from .report import Finding as Finding
from .settings import CheckSettings as CheckSettings
