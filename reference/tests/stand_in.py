"""A program that stands in for llama.cpp's server: its options, its health, its event stream."""

import sys
from pathlib import Path

_SOURCE = """#!{python}
import http.server, json, pathlib, sys
if "--version" in sys.argv:
    print("version: 1 (stand-in)", file=sys.stderr)
    sys.exit(0)
seen = pathlib.Path({seen!r})
asked_for_health = 0

def note(**what):
    with seen.open("a") as file:
        file.write(json.dumps(what) + "\\n")

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked_for_health
        asked_for_health += 1
        # The model is still being loaded.
        self.send_response(200 if self.path == "/health" and asked_for_health > 2 else 503)
        self.end_headers()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = [name.lower() for name in self.headers]
        note(path=self.path, messages=body["messages"], headers=headers)
        self.send_response(200)
        self.end_headers()
        for content in [None, *["word "] * body["max_tokens"]]:
            delta = dict(role="assistant", content=content)
            self.chunk(choices=[dict(delta=delta)])
        self.chunk(choices=[], usage=dict(prompt_tokens=9, completion_tokens=body["max_tokens"]))
        self.wfile.write(b"data: [DONE]\\n\\n")

    def chunk(self, **fields):
        self.wfile.write(b"data: " + json.dumps(fields).encode() + b"\\n\\n")

    def log_message(self, *words):
        pass

note(argv=sys.argv[1:])
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def write(folder: Path) -> tuple[Path, Path]:
    """The program, and the file in which it notes as JSON lines what it was given."""
    program, seen = folder / "llama-server", folder / "seen.jsonl"
    program.write_text(_SOURCE.format(python=sys.executable, seen=str(seen)), "utf-8")
    program.chmod(0o755)
    return program, seen
