from .character_page import drive_page as drive_page
from .character_page import export_character as export_character
from .render import render as render
from .render_settings import RenderSettings as RenderSettings
