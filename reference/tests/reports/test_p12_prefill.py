"""P12: one beginning of a reply, spelled in several ways, is lost in some of them (BRANCH-6)."""

from collections.abc import Callable

from tests.protocol.client import Talk, check_branch, check_same
from tests.protocol.histories import asking
from tests.protocol.routes import Json

Namer = Callable[[str], str]


def spellings(route: str, text: str) -> list[Json]:
    """One partial message in every way a client may write it."""
    said: Json = {"role": "assistant"}

    def parts(kind: str) -> list[list[Json]]:
        whole = [{"type": kind, "text": text}]
        return [whole, [{"type": kind, "text": text[:4]}, {"type": kind, "text": text[4:]}]]

    kinds = ["output_text"] if route == "responses" else ["text"]
    contents: list[object] = [text, *(content for kind in kinds for content in parts(kind))]
    if route == "messages":
        marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        contents.append([marked])
    plain = [{**said, "content": content} for content in contents]
    if route != "responses":
        return plain
    typed = [{"type": "message", **one} for one in plain]
    states = [
        {**typed[1], "id": "msg_1", "status": state} for state in ("in_progress", "completed")
    ]
    return [*plain, *typed, *states]


def test_p12_every_spelling_branches_at_the_same_place(talk: Talk, name: Namer) -> None:
    kept = talk.kept(name("plan"), asking("What is fog?"), max_tokens=16)
    text = kept.answer.text
    partial = text[: text.index(" ", len(text) // 2)]
    twin = check_branch(talk, kept, partial)
    # The reply is the continuation alone.
    assert not twin.text.startswith(partial[:8])
    plain = talk.twin(kept.history, partial=partial)
    field = "input" if talk.route.name == "responses" else "messages"
    for spelled in spellings(talk.route.name, partial):
        body = talk.route.body(kept.history, partial=partial, stream=talk.stream)
        body[field][-1] = spelled
        answer = talk.post(body, start=kept.name)
        assert answer.outcome == "used", spelled
        check_same(answer, plain)


def test_p12_what_has_no_single_place_is_refused_with_a_reason(talk: Talk, name: Namer) -> None:
    """The same answer on every route, and no name is touched by it."""
    kept = talk.kept(name("plan"), asking("What is fog?"))
    twice = (*kept.history, ("assistant", "Well,"))
    body = talk.route.body(twice, partial="it is", stream=talk.stream)
    refused = talk.post(body, start=kept.name, keep=kept.name)
    assert refused.status == 400
    assert "two or more assistant messages" in talk.route.error(refused.body)
    if talk.route.name == "chat":
        both = {**talk.route.body(kept.history, partial="Well,", stream=False)}
        both["add_generation_prompt"] = True
        assert talk.post(both, start=kept.name).status == 400
    assert talk.ask(kept.then("Why?"), start=kept.name).outcome == "used"
