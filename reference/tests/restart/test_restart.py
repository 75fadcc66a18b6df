"""RESTART: names survive a restart, and only whole ones do."""

import stat

import pytest

from tests.restart.comeback import goes_on, is_lost, keep
from tests.restart.conftest import MakeComeback


def test_restart_1_names_survive_a_clean_restart(comeback: MakeComeback) -> None:
    server = comeback()
    talk = server.start()
    kept = [keep(talk, f"plan-{number}", f"Question {number}?") for number in range(3)]
    before = talk.server.handles()
    server.stop()
    talk = server.start()
    after = talk.server.handles()
    assert list(after) == list(before)
    assert [entry["on_disk"] for entry in after.values()] == [True] * 3
    for name in before:
        assert after[name]["created_at"] == before[name]["created_at"]
        assert after[name]["tokens"] == before[name]["tokens"]
    for conversation in kept:
        goes_on(talk, conversation)
    # And a second time, from files that were not written again.
    server.stop()
    talk = server.start()
    for conversation in kept:
        goes_on(talk, conversation)


def test_restart_1_a_branch_and_a_reply_cut_by_a_stop_string_survive(
    comeback: MakeComeback,
) -> None:
    server = comeback()
    talk = server.start()
    whole = keep(talk, "whole", "Tell me something.", max_tokens=12)
    cut = keep(talk, "cut", "Tell me something.", max_tokens=12, stop=[whole.answer.text[5:8]])
    assert len(cut.answer.text) <= 5
    server.stop()
    talk = server.start()
    goes_on(talk, cut)
    partial = whole.answer.text[: len(whole.answer.text) // 2]
    branch = talk.ask(whole.history, start="whole", partial=partial, max_tokens=12)
    assert branch.outcome == "used"
    assert branch.text == talk.ask(whole.history, partial=partial, max_tokens=12).text


def test_restart_2_without_a_folder_every_name_is_unknown(comeback: MakeComeback) -> None:
    server = comeback(HALOGEN_CACHE_DIR="")
    kept = keep(server.start(), "plan", "Question?")
    server.stop()
    is_lost(server.start(), kept)
    assert not server.files()


def test_restart_3_other_settings_are_another_server(comeback: MakeComeback) -> None:
    server = comeback()
    kept = keep(server.start(), "plan", "Question?")
    server.stop()
    talk = server.start(HALOGEN_CTX="1024")
    is_lost(talk, kept)
    server.stop()
    # The file was left for the server it belongs to.
    goes_on(server.start(), kept)


def test_restart_5_time_down_counts_as_unused(comeback: MakeComeback) -> None:
    server = comeback(HALOGEN_FORK_TTL_S="600")
    kept = keep(server.start(), "plan", "Question?")
    server.stop()
    # No test waits for the clock: the same downtime, under a shorter time to live.
    talk = server.start(HALOGEN_FORK_TTL_S="0.01")
    is_lost(talk, kept)
    assert not server.files(), "what is released is removed from disk"


def test_life_3_no_more_names_come_back_than_may_live(comeback: MakeComeback) -> None:
    server = comeback()
    talk = server.start()
    kept = [keep(talk, f"plan-{number}", f"Question {number}?") for number in range(4)]
    server.stop()
    talk = server.start(HALOGEN_FORK_HANDLES="2")
    assert list(talk.server.handles()) == ["plan-2", "plan-3"]
    is_lost(talk, kept[0])
    goes_on(talk, kept[3])


def test_a_released_name_is_gone_from_disk(comeback: MakeComeback) -> None:
    server = comeback(HALOGEN_FORK_HANDLES="1")
    talk = server.start()
    keep(talk, "first", "Question?")
    server.written("first")
    second = keep(talk, "second", "Question?")
    server.written("second")
    assert len(server.files()) == 1
    server.stop()
    goes_on(server.start(), second)


def test_names_are_no_paths_and_files_are_private(comeback: MakeComeback) -> None:
    server = comeback()
    talk = server.start()
    names = ["../../escape", "..", "/etc/passwd", "a/b", "~", "x" * 256]
    for name in names:
        keep(talk, name, "Question?")
    server.written(*names)
    assert len(server.files()) == len(names)
    for path in server.files():
        assert path.stem.isalnum()
    # With what is no kept conversation: the secret, the lock. The log is the test's own.
    made = [path for path in server.folder.iterdir() if path.suffix != ".log"]
    assert {path.name for path in made} > {"secret", "lock"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}


def test_the_disk_budget_lets_the_oldest_go(comeback: MakeComeback) -> None:
    server = comeback()
    talk = server.start()
    keep(talk, "first", "Question?")
    server.written("first")
    (size,) = (path.stat().st_size for path in server.files())
    server.stop()
    for path in server.files():
        path.unlink()
    talk = server.start(HALOGEN_CACHE_DISK_GIB=f"{2.5 * size / 2**30:.12f}")
    kept = [keep(talk, f"plan-{number}", f"Question {number}?") for number in range(3)]
    server.written("plan-1", "plan-2")
    server.stop()
    assert len(server.files()) == 2
    talk = server.start()
    is_lost(talk, kept[0])
    goes_on(talk, kept[2])


def test_two_servers_do_not_share_a_folder(comeback: MakeComeback) -> None:
    first, second = comeback(), comeback()
    first.start()
    with pytest.raises(AssertionError, match="in use by another server"):
        second.start()
