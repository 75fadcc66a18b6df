"""The text the demo works on: rules and a task, some 400 tokens, as a real harness would send."""

_MODULES = (
    ("the order reader", "reads one line at a time and returns a record or an error"),
    ("the invoice reader", "joins lines that end in a backslash before it reads them"),
    ("the price list", "keeps the last value where a key is given twice"),
    ("the stock report", "counts what it could not read and goes on"),
    ("the audit log", "must never lose a line, whatever is wrong with it"),
)

RULES = """You plan and carry out changes to a program. Answer in short plain sentences. Name the
files you would touch. Change one thing at a time, keep every test passing after each change, and
say how you would notice that a change was wrong."""


def task(modules: int = len(_MODULES)) -> str:
    """What the plan is asked for, about that many modules, some 60 tokens each."""
    return "\n".join(
        (
            "We move the program from the old parser to the new one. The old parser reads text",
            "with regular expressions, the new one with a grammar. Both must give the same",
            "records until the old one is removed. These modules use it:",
            *(
                f"{number}. {name.capitalize()} {habit}. It has {3 + number} tests and is used by "
                f"{number % 3 + 1} other modules, so a change in {name} is reviewed by their "
                "owners before it is merged."
                for number, (name, habit) in enumerate(_MODULES[:modules], 1)
            ),
            "The work is done in three parts. Part A moves the readers, part B moves everything",
            "that reports or stores, part C moves what people see and removes the old parser.",
            "Plan the move to the new parser: what is done first in each part, and why.",
        )
    )
