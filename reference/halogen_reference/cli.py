"""``halogen-reference``: start the server."""

import argparse
import sys

import shtab

from halogen_reference import __version__, settings
from halogen_reference.engine.llama.engine import LlamaEngine, Size
from halogen_reference.engine.llama.model import Model, ModelError
from halogen_reference.http.app import build_app
from halogen_reference.server import build
from halogen_reference.serving import listen, serve
from halogen_reference.settings import SettingError, Settings, packaged_model

_ABOUT = """Serve a GGUF model over Chat Completions, Messages and Responses, with named
conversations: keep, fork and join. Everything is set by environment variables; see the README's
table."""


def main(arguments: list[str] | None = None) -> int:
    """Run the server until it is told to stop. Returns the exit code: 2 for a bad setting."""
    parser = argparse.ArgumentParser("halogen-reference", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    shtab.add_argument_to(parser)
    parser.add_argument("--port", type=int, help="the port to listen on (HALOGEN_API_PORT)")
    options = parser.parse_args(arguments)
    if options.port is not None and not 0 <= options.port <= 65535:
        parser.error("--port takes a port number, 0 to 65535")
    try:
        chosen = settings.read()
        engine = start_engine(chosen)
        listener = listen(chosen.host, chosen.port if options.port is None else options.port)
    except (SettingError, ModelError) as error:
        print(f"halogen-reference: {error}", file=sys.stderr)
        return 2
    serve(build_app(build(engine, chosen)), listener, f"halogen-reference: {engine.model_id}")
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
    size = Size(context, pool, chosen.slots, chosen.threads, chosen.queue_timeout)
    return LlamaEngine(model, size)
