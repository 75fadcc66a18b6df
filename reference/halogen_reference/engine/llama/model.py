"""A GGUF model: its vocabulary, its chat template and what it can do."""

import ctypes
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import llama_cpp

_SAMPLED_BYTES = 16 * 2**20
_UNSUPPORTED = "this server needs a decoder-only model with a plain attention cache"


class ModelError(Exception):
    """The model cannot be served; the message is one line that says what to do."""


# llama.cpp calls it from its own threads for as long as the process lives: a collected callback
# crashes the process, so it stays referenced here.
@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _drop_log(level: int, text: bytes, user_data: ctypes.c_void_p) -> None:
    pass


@lru_cache(maxsize=1)
def backend() -> None:
    """Load llama.cpp and keep it from printing; once a process."""
    llama_cpp.llama_log_set(_drop_log, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


def offloads() -> bool:
    """Whether this llama.cpp can lay the KV cache in another memory than the processor's."""
    return bool(llama_cpp.llama_supports_gpu_offload())


class Model:
    """Loaded weights. Reading the vocabulary is safe from any thread.

    Raises ModelError when the file is missing, is not a GGUF, or holds a model whose state cannot
    be forked (recurrent, hybrid, encoder).
    """

    def __init__(self, path: Path) -> None:
        backend()
        if not path.is_file():
            raise ModelError(f"no model file at {path}: set HALOGEN_CHECKPOINT to a GGUF file")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelError(f"{path} is not a GGUF file: set HALOGEN_CHECKPOINT to one")
        handle = llama_cpp.llama_model_load_from_file(
            str(path).encode(), llama_cpp.llama_model_default_params()
        )
        if not handle:
            raise ModelError(
                f"llama.cpp cannot load {path}: is the file whole, and of a kind "
                "it knows? If not, set HALOGEN_CHECKPOINT to another GGUF file"
            )
        self.handle = handle
        if llama_cpp.llama_model_is_recurrent(handle) or llama_cpp.llama_model_is_hybrid(handle):
            raise ModelError(f"{path.name} keeps a recurrent state: {_UNSUPPORTED}")
        if llama_cpp.llama_model_has_encoder(handle):
            raise ModelError(f"{path.name} has an encoder: {_UNSUPPORTED}")
        self.path = path
        self.name = path.stem
        vocab = llama_cpp.llama_model_get_vocab(handle)
        assert vocab is not None
        self.vocab = vocab
        self.vocab_size = int(llama_cpp.llama_vocab_n_tokens(vocab))
        self.trained_context = int(llama_cpp.llama_model_n_ctx_train(handle))
        self._pieces: dict[int, bytes] = {}
        self._encoded = lru_cache(maxsize=2048)(self._encode)

    @property
    def token_bytes(self) -> int:
        """Bytes of KV cache a token takes: keys and values in 16 bits, for every layer."""
        lib, handle = llama_cpp, self.handle
        width = lib.llama_model_n_embd(handle) // lib.llama_model_n_head(handle)
        heads, layers = lib.llama_model_n_head_kv(handle), lib.llama_model_n_layer(handle)
        return int(4 * width * heads * layers)

    @property
    def template(self) -> str:
        """The chat template's source. Raises ModelError when the file carries none."""
        source = llama_cpp.llama_model_chat_template(self.handle, None)
        if not source:
            raise ModelError(
                f"{self.path.name} has no chat template: choose a chat model (often named "
                "'instruct') with HALOGEN_CHECKPOINT"
            )
        return str(source, "utf-8", "replace")

    @property
    def template_texts(self) -> dict[str, str]:
        """What a template may print: the texts of the begin and end tokens."""
        ids = {
            "bos_token": llama_cpp.llama_vocab_bos(self.vocab),
            "eos_token": llama_cpp.llama_vocab_eos(self.vocab),
        }
        return {name: self._text(token) if token >= 0 else "" for name, token in ids.items()}

    @property
    def prefix(self) -> str:
        """Text every prompt must begin with: the begin token, where the model wants one."""
        wanted = llama_cpp.llama_vocab_get_add_bos(self.vocab)
        return self.template_texts["bos_token"] if wanted else ""

    def fingerprint(self) -> str:
        """Identifies the file: its size, its beginning and its end (a whole read of a large model
        would delay every start)."""
        size = self.path.stat().st_size
        digest = hashlib.sha256(f"{size}:{llama_cpp.__version__}".encode())
        with self.path.open("rb") as file:
            digest.update(file.read(_SAMPLED_BYTES))
            file.seek(max(0, size - _SAMPLED_BYTES))
            digest.update(file.read())
        return digest.hexdigest()

    def encode(self, text: str, special: bool) -> Sequence[int]:
        """Tokenise; with ``special``, control tokens spelled in the text are recognised."""
        return self._encoded(text, special)

    def piece(self, token: int) -> bytes:
        """The bytes a token adds to the text; control tokens add none."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._spell(token)
        return known

    def ends_turn(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_is_eog(self.vocab, token))

    def close(self) -> None:
        llama_cpp.llama_model_free(self.handle)

    def _encode(self, text: str, special: bool) -> tuple[int, ...]:
        data = text.encode()
        room = len(data) + 8
        while True:
            buffer = (llama_cpp.llama_token * room)()
            count = llama_cpp.llama_tokenize(
                self.vocab, data, len(data), buffer, room, False, special
            )
            if count >= 0:
                return tuple(buffer[:count])
            room = -count

    def _spell(self, token: int) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = llama_cpp.llama_token_to_piece(self.vocab, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count

    def _text(self, token: int) -> str:
        return (llama_cpp.llama_vocab_get_text(self.vocab, token) or b"").decode("utf-8", "replace")
