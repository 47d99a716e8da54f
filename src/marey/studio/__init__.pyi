from .render import render as render
from .render_settings import RenderSettings as RenderSettings
