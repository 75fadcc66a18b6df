"""What tests may do to a simulator, and only when it was started for them."""

import pytest

from tests.world import FOG, running


async def test_the_clock_can_be_turned() -> None:
    async with running(controls=True) as talk:
        await talk.ask(FOG, keep="a")
        before = (await talk.http.get("/simulator/clock")).json()["now"]
        turned = await talk.http.post("/simulator/clock", json={"advance_s": 601})
        assert turned.json()["ahead_s"] == 601
        assert turned.json()["now"] >= before + 601
        assert await talk.names() == []


@pytest.mark.parametrize("body", ["", "{}", '{"advance_s": -1}', '{"advance_s": "x"}', "[]"])
async def test_a_wrong_turn_is_told(body: str) -> None:
    async with running(controls=True) as talk:
        answer = await talk.http.post("/simulator/clock", content=body)
        assert answer.status_code == 400 and "advance_s" in answer.text
        assert (await talk.http.get("/simulator/clock")).json()["ahead_s"] == 0


async def test_the_state_tells_lineage_and_cost() -> None:
    async with running(controls=True) as talk:
        fog = await talk.ask(FOG, keep="a")
        history = FOG.plus(fog.reply.turn()).user("Why?")
        fork = await talk.ask(history, start="a", keep="b")
        page = (await talk.http.get("/simulator/state")).json()
    assert page["names"] == {"a": [1], "b": [2]}
    assert [(state["state"], state["parent"]) for state in page["states"]] == [(1, None), (2, 1)]
    first, second = page["replies"]
    assert (first["kept"], first["reused"], first["evaluated"]) == (1, 0, first["prompt"])
    assert (second["state"], second["kept"]) == (1, 2)
    assert second["evaluated"] == fork.cost == second["prompt"] - second["reused"]
    assert page["evaluated"] == first["evaluated"] + second["evaluated"]
    assert page["pool"]["used"] == page["states"][1]["resident"]
    assert page["pool"]["shared"] == page["states"][0]["resident"]


@pytest.mark.parametrize("path", ["/simulator/clock", "/simulator/state"])
async def test_without_the_flag_there_are_no_controls(path: str) -> None:
    async with running() as talk:
        assert (await talk.http.get(path)).status_code == 404
        assert (await talk.http.post(path, json={"advance_s": 601})).status_code == 404


async def test_a_wrong_method() -> None:
    async with running(controls=True) as talk:
        assert (await talk.http.post("/simulator/state")).status_code == 405
