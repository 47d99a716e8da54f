"""`marey studio`: view and edit motion in the browser."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import click


@click.command("studio")
@click.argument("folder", required=False)
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on.  [default: 8377, or any free port]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--expose", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def command(folder: str | None, port: int | None, host: str, expose: bool, no_browser: bool) -> int:
    """View and edit motion in the browser. The page can open the files in FOLDER.

    Without FOLDER, the page starts with demos, samples and recent folders. The page can open other folders unless
    you set --expose.

    The printed address contains a secret token: anyone who knows it can open the page. Only this machine can connect,
    unless you set --host and --expose. Stop with Ctrl-C.

    \b
    Example:
      marey studio takes/
      marey studio --port 9000 --no-browser
    """
    from marey.studio.page_files import PAGE, check_built
    from marey.studio.security import is_loopback
    from marey.studio.serve import bind, check_installed, get_address, serve

    check_installed()
    check_built(PAGE, "index.html")
    opened = None
    if folder is not None:
        from marey.studio.folder import Folder

        opened = Folder(folder)
    listening = bind(host, port, expose=expose)
    if not is_loopback(host):
        click.echo(
            f"marey: warning: {host} is reachable from other machines: anyone who has the address with its token can "
            "read and write the open folder, and the connection is not encrypted",
            err=True,
        )
    address = get_address(listening)
    click.echo(f"marey studio: {address.url}")
    if address.url_elsewhere != address.url:
        click.echo(f"from other machines: {address.url_elsewhere}")
    click.echo("Press Ctrl-C to stop.", err=True)
    with suppress(KeyboardInterrupt), ExitStack() as cleanup:  # Ctrl-C is the normal way to stop the server
        if not no_browser:
            open_browser(address.url, cleanup)
        # Import the server while the browser starts.
        from marey.studio.app import Studio
        from marey.studio.recent import Recent, find_recent_file

        serve(listening, Studio(opened, recent=Recent(find_recent_file())), address=address)
    return 0


def open_browser(url: str, cleanup: ExitStack) -> None:
    """Open the browser without waiting for it. If there is none, the user can copy the address from the terminal.

    The browser gets a file that only this user can read and that leads to the address: other users of this machine can
    see the arguments of a browser, and would find the token there.
    """
    import shutil
    import threading
    import webbrowser

    from marey.io.temporary import new_folder

    folder = new_folder()
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    page = folder / "marey studio.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}">'
        f'<title>marey studio</title><a href="{url}">Open marey studio</a>\n',
        encoding="utf-8",
    )
    page.chmod(0o600)
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
