"""The start page: samples, folders and recent projects."""

from __future__ import annotations

from pathlib import Path

import pytest

import marey
from marey.samples import sample
from marey.studio.app import Studio
from marey.studio.recent import MAX_ENTRIES, Recent
from tests.studio.client import Failed, FakePage, Server


def test_samples_open_with_their_code(page: FakePage, server: Server) -> None:
    offered = page.do("start_page")
    assert offered["can_browse"]
    assert {"walk", "run"} <= {each["name"] for each in offered["samples"]}
    opened = page.do("open_sample", sample="walk", options={"seconds": 1.0}, slide=0.25, name="sliding")
    assert opened["name"] == "sliding"
    shared = page.do("share_code", motion=opened["motion"])
    values: dict[str, object] = {}
    exec(shared["code"].rpartition("marey.save(")[0], values)
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    made, wanted = values[shared["variable"]], session.motions.motion(opened["motion"])
    assert isinstance(made, marey.Motion)
    assert made.root_positions.tobytes() == wanted.root_positions.tobytes()
    with pytest.raises(Failed, match="no sample"):
        page.do("open_sample", sample="nonsense", options={})


def test_another_folder_is_opened(built: Path, tmp_path: Path) -> None:
    (tmp_path / "walks").mkdir()
    (tmp_path / ".hidden").mkdir()
    marey.save(sample("walk", seconds=1.0).motion, tmp_path / "walks" / "walk.bvh")
    recent = Recent(tmp_path / "state" / "recent.json")
    server = Server(None, built)
    server.studio.sessions._recent = recent
    with FakePage(server) as page:
        view = page.do("folder_browse", path=str(tmp_path))
        assert view["folders"] == ["walks"]
        assert view["parent"] == str(tmp_path.parent)
        assert page.do("folder_browse", path=str(tmp_path / "walks"))["motions"] == 1
        listed = page.do("folder_open", path=str(tmp_path / "walks"))
        assert [each["path"] for each in listed["files"]] == ["walk.bvh"]
        assert page.do("open", path="walk.bvh")["n_frames"] == 61
        entries = page.do("start_page")["recent"]
        assert [(each["kind"], each["name"]) for each in entries] == [("folder", "walks")]
        for path, text in (("nowhere", "absolute path"), (str(tmp_path / "gone"), "no such folder")):
            with pytest.raises(Failed, match=text):
                page.do("folder_open", path=path)
    server.studio.sessions.can_browse = False  # as with --expose
    with FakePage(server) as page:
        assert page.do("start_page")["recent"] == []
        for command in ("folder_browse", "folder_open"):
            with pytest.raises(Failed, match="other machines can connect"):
                page.do(command, path=str(tmp_path))
    server.stop()


def test_a_page_that_others_can_reach_opens_no_folders(built: Path) -> None:
    studio = Studio(None, built)
    studio.app("token", (), "cookie", any_host=True)
    assert not studio.sessions.can_browse


def test_recent_entries_are_few_and_exist(tmp_path: Path) -> None:
    recent = Recent(tmp_path / "state" / "recent.json")
    folders = [tmp_path / f"folder {k}" for k in range(MAX_ENTRIES + 3)]
    for folder in folders:
        folder.mkdir()
        recent.add("folder", folder)
    recent.add("folder", folders[-2])
    assert [path for _, path in recent.entries()] == [folders[-2], folders[-1], *folders[-3:2:-1]]
    folders[-1].rmdir()
    assert folders[-1] not in [path for _, path in recent.entries()]
    for text in ("", "{}", '{"format": "marey.recent", "version": 1, "entries": [3, {"kind": "folder", "path": 3}]}'):
        (tmp_path / "state" / "recent.json").write_text(text)
        assert recent.entries() == []
    assert Recent().entries() == []
