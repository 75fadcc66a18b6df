"""Write the packaged model once more, in a form llama.cpp computes several times faster.

    python tools/quick_model.py OUT.gguf

The package has its weights as Q4_1, for which llama.cpp has no fast product of matrices on a
processor; Q4_0 it rearranges for the vector unit while it loads. The weights are rounded a second
time, so the replies are other ones: good for a check, which asks whether a server agrees with
itself, and for nothing that looks at what is said.
"""

import ctypes
import os
import sys
from pathlib import Path

import llama_cpp

from halogen_reference.engine.llama.model import backend
from halogen_reference.settings import packaged_model


def write(target: Path) -> None:
    """Make ``target`` in one move. Raises RuntimeError when llama.cpp does not write it."""
    backend()
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0
    options.allow_requantize = True
    options.pure = True
    part = target.with_suffix(".part")
    failed = llama_cpp.llama_model_quantize(
        os.fsencode(packaged_model()), os.fsencode(part), ctypes.byref(options)
    )
    if failed:
        part.unlink(missing_ok=True)
        raise RuntimeError(f"llama.cpp could not write {part} ({failed}): is the disk full?")
    part.replace(target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        write(Path(sys.argv[1]))
    except RuntimeError as error:
        sys.exit(f"quick_model: {error}")
