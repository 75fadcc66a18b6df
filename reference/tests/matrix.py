"""Which tests run over which engine: everything over the simulator, a core over the real model.

The two share all of the server but the engine, and the simulator answers in milliseconds. So what
hangs on the engine runs over both, and all the rest over the simulator only. This is the one place
that says so; a folder or test it does not name runs over both.
"""

from collections.abc import Mapping
from typing import Any

REAL = "reference"
"""The engine whose every token costs time."""

CHAT_ONLY = (
    "test_from_4_tools_are_part_of_the_history",
    "test_from_12_reasoning_left_out_is_another_history",
    "test_from_8_the_same_meaning",
    "test_from_8_a_changed_value",
    "test_branch_1_without_the_flag_it_is_a_finished_turn",
    "test_branch_6_every_spelling_branches_alike",
    "test_keep_4_a_refused_request_keeps_nothing",
    "test_keep_7_of_several_choices_the_first_is_kept",
)
"""Of ``protocol/``: written in the fields of Chat Completions, or about what only it has. What the
other routes have instead is in ``test_tools.py`` and ``reports/``."""

SIMULATOR_ONLY = ("test_several_calls_have_ids_of_their_own",)
"""Of ``protocol/``: what a small model does not do because it is asked to."""

OTHER_ROUTES = (
    "test_keep_1_is_listed_and_can_be_continued",
    "test_keep_2_ends_where_the_reply_ends",
    "test_from_1_and_2_used",
    "test_from_4_unmatched_is_answered_as_usual",
    "test_from_10_a_name_of_one_route_is_used_on_another",
    "test_from_11_a_call_and_its_result_are_history",
    "test_join_1_keeps_the_result_beside_the_start",
    "test_branch_1_goes_on_from_a_beginning",
    "test_streams_never_split_a_character",
    "test_forced_calls_have_arguments_that_fit",
)
"""Of ``protocol/``, on Messages and Responses, streaming; on Chat Completions, which runs all of
``protocol/`` streaming, these also as whole answers."""

RECORDINGS = (
    "test_every_request_starts_from_its_own_thread[reference-without-hints.jsonl-no-hints]",
)
"""Of ``claude_code/``: one recording as the client sends it with nothing set."""

RESTARTS = (
    "test_restart_1_names_survive_a_clean_restart",
    "test_restart_3_other_settings_are_another_server",
    "test_a_kill_loses_only_what_was_being_written",
    "test_restart_4_killed_again_and_again_under_load",
)
"""Of ``restart/``."""

KILLS = {REAL: 3, "simulator": 30}
"""Kills under load in a row."""

REPORTS = (
    "test_p01_",
    "test_p05_",
    "test_p06_",
    "test_p12_",
)
"""Of ``reports/``: what went wrong inside an engine."""


def runs(folder: str, test: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a test with these parameters runs. ``test`` is its name, parameters and all."""
    engine = parameters.get("engine")
    if "kills" in parameters and parameters["kills"] != KILLS[str(engine)]:
        return False
    function = test.partition("[")[0]
    route = parameters.get("route") or parameters.get("target") or "chat"
    if function in CHAT_ONLY and route != "chat":
        return False
    if engine != REAL:
        return True
    if function in SIMULATOR_ONLY:
        return False
    match folder:
        case "protocol":
            streams = parameters.get("stream", "stream") == "stream"
            core = function in OTHER_ROUTES
            return [streams, route == "chat", core].count(True) >= 2
        case "claude_code":
            return test in RECORDINGS
        case "restart":
            return function in RESTARTS
        case "reports":
            return route == "chat" and function.startswith(REPORTS)
    return True
