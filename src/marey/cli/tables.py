"""Format text tables."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(rows: Sequence[Sequence[str]], n_text: int = 1) -> list[str]:
    """Format a table as lines of text, one per row. The first row is the header.

    The first column and the last `n_text` columns are left-aligned, the others right-aligned.
    """
    if not rows:
        return []
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    n = len(rows[0])
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for k in range(n):
        table.add_column(justify="right" if 0 < k < n - n_text else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    width = sum(max(map(cell_len, column)) + 2 for column in zip(*rows, strict=True))
    console = Console(width=width, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as text:
        console.print(table)
    return [f"  {line.rstrip()}" for line in text.get().splitlines()]
