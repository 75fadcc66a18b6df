"""P09: an agent program puts a reminder into a message and takes it out on the next turn."""

from collections.abc import Callable

from tests.protocol.client import Kept, Talk, check_not_used, check_used

REMINDER = "Remember that the tide is high."


def test_p09_one_miss_and_used_again(talk: Talk, name: Callable[[str], str]) -> None:
    plan = name("a")
    first = talk.kept(plan, (("user", f"{REMINDER}\nhello"),))
    # The reminder is gone: what was kept is not what is told now, and no word of it may stay.
    history = (("user", "hello"), ("assistant", first.answer.text), ("user", "Go on."))
    second = Kept(plan, history, check_not_used(talk, "unmatched", history, plan, keep=plan))
    assert REMINDER not in second.answer.text
    check_used(talk, second, second.then("And then?"))
