"""`marey studio`: motion in the browser."""

from __future__ import annotations

from contextlib import suppress

import click


@click.command("studio")
@click.argument("folder", required=False)
@click.option("--port", type=click.IntRange(0, 65535), help="Where to listen.  [default: 8377, else any that is free]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--expose", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(folder: str | None, port: int | None, host: str, expose: bool, no_browser: bool) -> int:
    """Show and edit motion in the browser; the files of FOLDER can be opened there.

    The address that is printed has a secret: whoever knows it can open the page. It works on this machine alone, unless
    --host and --expose say otherwise. Ends with Ctrl-C.

    \b
    Example:
      marey studio takes/
      marey studio --port 9000 --no-browser
    """
    from marey.studio.page_files import PAGE, check_built
    from marey.studio.security import is_loopback
    from marey.studio.serve import address_of, bind, serve

    check_built(PAGE, "index.html")
    opened = None
    if folder is not None:
        from marey.studio.folder import Folder

        opened = Folder(folder)
    listening = bind(host, port, expose=expose)
    if not is_loopback(host):
        click.echo(
            f"marey: warning: {host} can be reached from other machines: whoever has the address with its secret can "
            "read and write the opened folder, and it travels unencrypted",
            err=True,
        )
    address = address_of(listening)
    click.echo(f"marey studio: {address.url}")
    if address.url_elsewhere != address.url:
        click.echo(f"from other machines: {address.url_elsewhere}")
    click.echo("Ctrl-C ends it.", err=True)
    if not no_browser:
        _open(address.url)
    with suppress(KeyboardInterrupt):  # the way to end it, not an accident
        # The browser takes its time to start, as does the rest of the server: both at once.
        from marey.studio.app import Studio

        serve(listening, Studio(opened), address=address)
    return 0


def _open(url: str) -> None:
    """Open the browser without waiting for it; where there is none, the address stands in the terminal."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
