"""``halogen-reference``: start the server."""

import argparse
import os
import sys

import shtab

from halogen_reference import __version__, settings
from halogen_reference.command import EXIT_CODES, port
from halogen_reference.engine.llama.engine import LlamaEngine, Size
from halogen_reference.engine.llama.model import Model, ModelError, offloads
from halogen_reference.http.app import build_app
from halogen_reference.prompt import TemplateUnreadable
from halogen_reference.server import build
from halogen_reference.serving import listen, serve
from halogen_reference.settings import SettingError, Settings, packaged_model

_ABOUT = """Serve a GGUF model over Chat Completions, Messages and Responses, with named
conversations: keep, fork and join. Everything is set by environment variables; see the table in
reference/README.md."""


def main(arguments: list[str] | None = None) -> int:
    """Run the server until it is told to stop. Returns the exit code: 2 for a bad setting."""
    parser = argparse.ArgumentParser(
        "halogen-reference",
        description=_ABOUT,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    shtab.add_argument_to(parser)
    parser.add_argument(
        "--port",
        type=port,
        metavar="N",
        help="the port to listen on; 0: a free one (8731, or HALOGEN_API_PORT)",
    )
    options = parser.parse_args(arguments)
    try:
        chosen = settings.read()
        engine = start_engine(chosen)
        app = build_app(build(engine, chosen))
        listener = listen(chosen.host, chosen.port if options.port is None else options.port)
    except (SettingError, ModelError) as error:
        print(f"halogen-reference: {error}", file=sys.stderr)
        return 2
    serve(app, listener, f"halogen-reference: {engine.model_id}")
    return 0


def start_engine(chosen: Settings) -> LlamaEngine:
    """The llama.cpp engine for these settings. Raises SettingError, ModelError."""
    model = Model(chosen.checkpoint or packaged_model())
    context = chosen.context or model.trained_context
    if context > model.trained_context:
        raise SettingError(
            f"HALOGEN_CTX={context} is more than the {model.trained_context} tokens "
            f"{model.name} was trained on"
        )
    pool = chosen.pool or 2 * context
    if pool < context:
        raise SettingError(
            f"HALOGEN_KV_POOL_POSITIONS={pool} does not hold one context of {context} tokens"
        )
    _check_memory(model, pool)
    size = Size(context, pool, chosen.slots, chosen.threads, chosen.queue_timeout)
    try:
        return LlamaEngine(model, size)
    except TemplateUnreadable as error:
        raise ModelError(
            f"{model.path}: {error}; set HALOGEN_CHECKPOINT to another GGUF file"
        ) from None


def _check_memory(model: Model, pool: int) -> None:
    """Raises SettingError for more KV cells than the machine has memory for: many a system
    promises such memory, and ends the process once it is written to."""
    if offloads():
        return  # the cells may lie in another memory, whose size is not known here
    needed = pool * model.token_bytes
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise SettingError(
            f"{pool} KV cells take {needed / 2**30:.1f} GiB, more than the "
            f"{memory / 2**30:.1f} GiB of this machine: choose a smaller "
            "HALOGEN_KV_POOL_POSITIONS or HALOGEN_CTX"
        )
