"""What a model is, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    from ._row import Array


class Analysis:
    """What a model is, without running it. `print` shows all of it.

    `kind`, how many `coordinates`, `velocities` and `constraints` there are, `rank`, `degrees_of_freedom` and `index`, the
    consistent start `y`, `z`, `multipliers`, `warnings` of the method, and all of it as `text`.

    >>> import hinge
    >>> c = hinge.loads(hinge.example).check()
    >>> c.kind, c.degrees_of_freedom, c.rank, c.index
    ('lagrangian', 1, 1, 3)
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        #: all of it, as `hinge check` prints it
        self.text: str = facts["text"]
        #: what a user should know before the method is applied to this model
        self.warnings: list[str] = [line.split(": ", 2)[-1] for line in facts["warnings"].splitlines()]
        #: 'lagrangian', 'hamiltonian', 'mechanical', 'odae', 'dae' or 'multibody'
        self.kind: str = facts["kind"]
        #: how many numbers there are
        self.coordinates: int = facts["coordinates"]
        self.velocities: int = facts["velocities"]
        self.constraints: int = facts["constraints"]
        #: of G, degrees of freedom and index; of a DAE they are in `text`
        self.rank: int | None = facts.get("rank")
        self.degrees_of_freedom: int | None = facts.get("degrees_of_freedom")
        self.index: int | None = facts.get("index")
        if self.kind == "dae":
            for line in self.text.splitlines():
                words = line.split()
                if words[:2] == ["structural", "index"]:
                    self.index = int(words[2].rstrip(",:"))
                if words[:3] == ["degrees", "of", "freedom"]:
                    self.degrees_of_freedom = int(words[3])
        #: the consistent start
        self.y: Array = facts["y"]
        self.z: Array = facts["z"]
        self.multipliers: Array = facts["multipliers"]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<hinge.Analysis: {self.kind}, {self.coordinates} coordinates, {self.constraints} constraints>"
