from .character_page import drive_page as drive_page
from .character_page import export_character as export_character
from .render import render as render
from .render_settings import RenderSettings as RenderSettings
from .view import View as View
from .view import view as view
from .view import view_page as view_page
