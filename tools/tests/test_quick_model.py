"""The model of `make check`: the packaged one, written in a form computed sooner."""

from pathlib import Path

import pytest

import quick_model
from halogen_reference.engine.llama.model import Model
from halogen_reference.settings import packaged_model


def test_it_is_the_packaged_model_in_another_form(tmp_path: Path) -> None:
    quick_model.write(tmp_path / "quick.gguf")
    quick, packaged = Model(tmp_path / "quick.gguf"), Model(packaged_model())
    assert quick.template == packaged.template
    assert quick.vocab_size == packaged.vocab_size
    assert quick.encode("Name one colour.", True) == packaged.encode("Name one colour.", True)
    assert [path.name for path in tmp_path.iterdir()] == ["quick.gguf"]
    quick.close()
    packaged.close()


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not write"):
        quick_model.write(tmp_path / "missing" / "quick.gguf")
    assert not list(tmp_path.iterdir())
