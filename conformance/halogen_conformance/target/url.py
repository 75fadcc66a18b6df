"""A target that runs already: the suite can only use it as it is."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.connection import Origin
from halogen_conformance.target.errors import TargetError, Trouble
from halogen_conformance.target.readiness import Seen, probe
from halogen_conformance.target.settings import Declared, missing_for_url
from halogen_conformance.target.target import Offer

_TROUBLE = {
    Seen.NOTHING: (Trouble.UNREACHABLE, "nobody answers at {url}: is the server running there?"),
    Seen.SILENCE: (Trouble.HANGS, "{url} accepts connections but gave no HTTP answer in {s:g} s"),
    Seen.GARBAGE: (Trouble.GARBAGE, "{url} answers with something that is not HTTP"),
}


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """One server at a fixed address, for every group it offers."""

    url: str
    declared: Declared = field(default_factory=Declared)

    def __post_init__(self) -> None:
        """Raises TargetError (BAD_USAGE) when the URL is none."""
        try:
            Origin.parse(self.url)
        except ValueError as error:
            raise TargetError(Trouble.BAD_USAGE, str(error)) from None

    @property
    def description(self) -> str:
        return self.base_url

    @property
    def base_url(self) -> str:
        return Origin.parse(self.url).url

    @property
    def key(self) -> str | None:
        return self.declared.key

    @property
    def ttl_s(self) -> float | None:
        return self.declared.ttl_s

    @property
    def handles(self) -> int | None:
        return self.declared.handles

    def offers(self, group: str) -> Offer:
        return Offer(missing_for_url(group, self.declared))

    def running(self, group: str) -> "UrlTarget":
        return self

    def check_alive(self) -> None:
        """Raises TargetError when nobody answers HTTP at the address."""
        patience = 10.0 + self.declared.slow_s
        seen, exchange = probe(self.base_url, patience)
        if seen in _TROUBLE:
            trouble, text = _TROUBLE[seen]
            line = text.format(url=self.base_url, s=patience)
            raise TargetError(trouble, f"{line} ({exchange.error})")

    def close(self) -> None:
        """Nothing was started."""
