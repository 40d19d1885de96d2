"""A graph that was read from a file of any form, with the places of its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dmlcy._errors import Violation
from dmlcy._frontends.dxdispatch.problems import Mender, Place, Problem, refuse
from dmlcy._frontends.dxdispatch.reader import MOST, more
from dmlcy._graph.check import violations
from dmlcy._graph.graph_desc import GraphDesc

UNREAD: Final = "DML-GRAPH-constant-missing"
"""The id for constants of a graph that is not filled."""


@dataclass(frozen=True, slots=True)
class Read:
    """A graph that was read; no graph where its form is not understood.

    ``wrong`` is what is wrong with the form, ``file`` the file as a whole, ``text`` what is in it if it is text;
    ``mender_of``: what makes a repair of a violation a change of the text.
    """

    graph: GraphDesc | None
    wrong: Sequence[Problem]
    warnings: Sequence[Problem]
    file: Place
    place_of: Callable[[Violation], Place]
    text: str = ""
    mender_of: Callable[[Violation], Mender | None] = lambda violation: None

    def problems(self, violations: Sequence[Violation]) -> list[Problem]:
        """The violations of the graph at their places."""
        found = [
            Problem(self.place_of(one), one, one.severity == "warning", self.mender_of(one))
            for one in violations[:MOST]
        ]
        if len(violations) > MOST:
            found.append(more(self.place_of(violations[MOST])))
        return found

    def broken(self, level: int) -> list[Problem]:
        """The problems of the graph, at the level of that position, beside the problems of its form."""
        if self.graph is None:
            return []
        return self.problems([one for one in violations(self.graph, level) if one.id != UNREAD])

    def finish(self) -> GraphDesc:
        """The graph; raises what is wrong with its form."""
        if self.wrong or self.graph is None:
            refuse(self.wrong)
        return self.graph
