"""The texts the demo works on: rules and a task, some 280 tokens, and a tool."""

from demo.route import Tool

_MODULES = (
    ("the order reader", "reads one line at a time and returns a record or an error"),
    ("the stock report", "counts what it could not read and goes on"),
    ("the audit log", "must never lose a line, whatever is wrong with it"),
)

RULES = """You plan and carry out changes to a program. Answer in short plain sentences. Name the
files you would touch. Change one thing at a time, keep every test passing after each change, and
say how you would notice that a change was wrong."""

TASK = "\n".join(
    (
        "We move the program from the old parser to the new one. The old parser reads text",
        "with regular expressions, the new one with a grammar. Both must give the same",
        "records until the old one is removed. These modules use it:",
        *(
            f"{number}. {name.capitalize()} {habit}. It has {3 + number} tests."
            for number, (name, habit) in enumerate(_MODULES, 1)
        ),
        "The work is done in three parts. Part A moves what reads, part B moves what reports",
        "or stores, part C moves what people see and removes the old parser.",
        "Plan the move to the new parser: what is done first in each part, and why.",
    )
)

# A choice and no free text: even a very small model comes to the end of such a call.
TESTS = Tool(
    "run_tests",
    "Run the tests of one part of the program.",
    {
        "type": "object",
        "properties": {"part": {"type": "string", "enum": ["A", "B", "C"]}},
        "required": ["part"],
        "additionalProperties": False,
    },
)
