"""A runner (see `marey.store.run`) for heavy work on other machines, based on a Dask cluster.

You start the cluster yourself: a scheduler, and workers on any machines, each with marey installed. There is no
password: put the scheduler on a network where every user may run programs on its workers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from marey.errors import InvalidValue, MareyError, require
from marey.store.run import Crew, each, split_batches

__all__ = ["Cluster", "cluster"]

# Seconds to wait for a scheduler to answer, and for its first worker.
_PATIENCE = 20.0


def cluster(address: str, *, patience: float = _PATIENCE) -> Cluster:
    """Return a runner on the workers of the Dask scheduler at `address`, such as ``tcp://10.0.0.5:8786``.

    Data held by the function is sent to each worker once. If a worker dies, other workers repeat the items that it was
    working on or had not delivered. Workers that join later get items too.

    Parameters
    ----------
    patience : seconds to wait for the scheduler, and for its first worker.

    Examples
    --------
    >>> run = marey.store.cluster("tcp://10.0.0.5:8786")              # doctest: +SKIP
    >>> clips = marey.MotionSet.open("clips").prepare(run=run)        # doctest: +SKIP
    """
    if not isinstance(address, str) or not address.strip():
        raise InvalidValue(f"address must be that of a Dask scheduler, such as tcp://10.0.0.5:8786, not {address!r}")
    if not patience > 0.0:
        raise InvalidValue(f"patience must be greater than 0 seconds, not {patience!r}")
    return Cluster(address.strip(), float(patience))


@dataclass(frozen=True, slots=True)
class Cluster:
    """A runner on a Dask cluster; see `cluster`."""

    address: str
    patience: float = _PATIENCE

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        wanted = list(items)
        if not wanted:
            return
        with self._connect() as client:
            n_workers = max(sum(client.nthreads().values()), 1)
            yield from _Task(client, function, self.address).results(split_batches(wanted, n_workers), n_workers)

    @contextmanager
    def _connect(self) -> Iterator[Any]:
        require("working on a cluster needs", "distributed", "cluster")
        from distributed import Client

        try:
            client = Client(self.address, timeout=self.patience, set_as_default=False)
        except (OSError, ValueError) as error:
            raise MareyError(
                f"no Dask scheduler answers at {self.address!r} ({_get_first_line(error)}); start one with "
                "`dask scheduler`, and check the address and port"
            ) from None
        log = logging.getLogger("distributed.client")
        level = log.level
        log.setLevel(logging.CRITICAL)  # errors that it logs are also raised
        try:
            try:
                client.wait_for_workers(1, timeout=self.patience)
            except TimeoutError:
                raise MareyError(
                    f"the Dask scheduler at {self.address!r} has no workers; start some with "
                    f"`dask worker {self.address}` where marey is installed"
                ) from None
            yield client
        finally:
            client.close()
            log.setLevel(level)


class _Task(Crew):
    """One function that runs on a cluster."""

    def __init__(self, client: Any, function: Callable[[Any], Any], address: str) -> None:
        from distributed import KilledWorker

        self.lost = (KilledWorker, CancelledError)
        self.remedy = f"workers of the cluster at {address!r} keep ending too early; they may have run out of memory"
        self.client = client
        self.function = function
        self.address = address
        self.sent = self._send()

    def _send(self) -> Any:
        """Send the function to every current worker, so the loss of one worker does not lose it."""
        try:
            return self.client.scatter(self.function, broadcast=True, hash=False)
        except (TypeError, AttributeError) as error:
            raise InvalidValue(
                "a cluster can only run a top-level function of a module, with values that can be pickled "
                f"({_get_first_line(error)})"
            ) from None
        except (OSError, RuntimeError, EOFError) as error:
            raise self._explain(error) from None

    def _explain(self, error: Exception) -> Exception:
        """Return the error to raise in place of an error of the connection."""
        if isinstance(error, MareyError):
            return error
        if not self._is_gone():
            return MareyError(self.remedy) if isinstance(error, TimeoutError) else error
        return MareyError(
            f"the Dask scheduler at {self.address!r} stopped answering ({_get_first_line(error)}); start it and its "
            "workers again, and repeat the work: results that are in the cache are kept"
        )

    def _is_gone(self) -> bool:
        """Return whether the scheduler no longer answers."""
        try:
            self.client.scheduler_info()
            self.client.sync(self.client.scheduler.identity)
        except Exception:  # whatever a broken connection raises
            return True
        return False

    def submit(self, batch: list[Any]) -> Any:
        return self.client.submit(each, self.sent, batch, pure=False)

    def is_lost(self, future: Any) -> bool:
        return str(future.status) != "finished"

    def recover(self) -> None:
        # The scheduler repeats lost work by itself, unless the last worker that held the function is gone.
        self.sent = self._send()

    def results(self, batches: Iterable[list[Any]], n_workers: int) -> Iterator[Any]:
        try:
            yield from super().results(batches, n_workers)
        except (OSError, RuntimeError, EOFError) as error:
            raise self._explain(error) from None
        except ModuleNotFoundError as error:
            raise MareyError(
                f"a worker of the cluster at {self.address!r} lacks a module ({error}); install this version of marey "
                "there"
            ) from None


def _get_first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
