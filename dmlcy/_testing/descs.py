"""Valid descs of an operator, over its whole domain."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import LEVEL, level_index
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import described
from dmlcy._testing.shared_sizes import enlarge, new_shared_size
from dmlcy._testing.starts import starts
from dmlcy._testing.walk import LARGE, Walk, is_drawn

MOST_ELEMENTS: Final = 2000


def descs(
    operator: object, *, level: object = None, most_elements: int = MOST_ELEMENTS, layouts: bool = True
) -> st.SearchStrategy[OperatorDesc]:
    """Valid descs of an operator: every data type, rank and enum member, sizes and attributes of all kinds.

    An input whose desc may have more ones in front than the array of a call has none.

    Parameters
    ----------
    operator
        Its name: PADDING1, DML_OPERATOR_PADDING1, padding1 or Padding1.
    level
        The feature level at which the descs are valid; None: the current one.
    most_elements
        Of all tensors of a desc together.
    layouts
        Also tensors with strides: transposed, with gaps, and, of inputs, with elements that share their place; and with
        flags, a larger total size, an alignment.

    Returns
    -------
    hypothesis.strategies.SearchStrategy

    Raises
    ------
    ModelError
        The operator is not known, or no spec describes it yet.
    ValueError
        The feature level does not have it, or no data type for one of its tensors.

    Examples
    --------
    >>> from hypothesis import given
    >>> import dmlcy as dml
    >>> from dmlcy import testing
    >>> @given(testing.descs("padding1", level="5_0"))
    ... def test(desc):
    ...     assert not dml.check(desc, feature_level="5_0")
    >>> test()
    """
    known = known_operator(operator)
    return _descs(known, at_level(known, level), most_elements, layouts)


def at_level(operator: Operator, level: object) -> int:
    """The position of a level at which a desc of the operator can be valid."""
    position = LEVEL.get() if level is None else level_index(level)
    if position < LEVEL_INDEX[operator.since]:
        raise ValueError(f"feature level {LEVELS[position].name} has no {operator.name}: it came with {operator.since}")
    needed = [field for field in operator.fields if field.dtypes and not field.optional]
    for field in needed:
        first = max(field.dtypes[0].since, field.ranks[0].since, key=lambda since: LEVEL_INDEX[since])
        if position < LEVEL_INDEX[first]:
            level_name, tensor = LEVELS[position].name, field.python
            has = f"its {tensor} has no data type before feature level {first}"
            raise ValueError(f"no desc of {operator.name} is valid at feature level {level_name}: {has}")
    return position


@st.composite
def _descs(draw: st.DrawFn, operator: Operator, level: int, most: int, layouts: bool) -> OperatorDesc:
    # From one valid desc to another: a field is drawn anew, and what follows from it is adapted. A desc that is not
    # valid then is not taken, so that a desc is never far from valid, however many rules there are.
    walk = Walk(draw, operator, level, most, draw(st.sampled_from(starts(operator.name, level))))
    inputs = [field for field in operator.fields if field.kind == "input" or is_drawn(operator, field)]
    attributes = [field for field in operator.fields if field.kind == "attribute" and field.value is None]
    for field in inputs:
        if field.optional:
            walk.new_presence(field)
    for field in inputs:
        if walk.lacks(field):
            continue
        walk.new_count(field)
        walk.new_dtype(field)
        walk.new_rank(field)
    scalars = [field for field in attributes if not type_of(field.type).array]
    for field in draw(st.permutations([*inputs, *attributes])) + draw(st.permutations(scalars)):
        if field in inputs:
            walk.new_sizes(field)
        else:
            walk.new_attribute(field)
    if draw(st.booleans()):
        new_shared_size(walk, inputs)
    for field in inputs:
        enlarge(walk, field)
    if draw(st.integers(0, 7)) == 0 or most >= LARGE:
        if draw(st.booleans()):
            walk.smallest(inputs, attributes)
        walk.extremes(draw(st.permutations(attributes)))
    for field in operator.fields:
        sized = field.sized_by is not None and field.sizes is not None and not is_drawn(operator, field)
        if sized and not walk.lacks(field):
            walk.larger_sizes(field)
    optional = [field for field in operator.fields if field.kind == "output" and field.optional]
    for field in draw(st.permutations(optional)) if len(optional) > 1 else optional:
        walk.new_output(field)
    if layouts:
        for field in operator.fields:
            if field.kind != "attribute" and walk.values[field.python] is not None:
                walk.new_layout(field)
    return class_of(operator)(**walk.values)


def desc_of(operator: Operator, example: Example) -> OperatorDesc:
    """The desc of an example."""
    tensors = described({**example.inputs, **example.outputs})
    return desc_class(operator.name)(**tensors, **example.attributes)


def class_of(operator: Operator) -> type[OperatorDesc]:
    """The class of an operator's descs."""
    return desc_class(operator.name)
