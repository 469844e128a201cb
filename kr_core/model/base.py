"""What all values share."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from kr_core.terminal_text import one_line


class Value(BaseModel):
    """A frozen value; unknown keys are an error, so that a misspelt one is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


OneLine = Annotated[str, AfterValidator(one_line)]
"""A text that KR writes into a line of its own, such as a path: no name of a file and no title begins another line."""


def _not_a_switch(value: Any) -> Any:
    # pydantic reads true as 1; `max_entries: yes` is a mistake, not one entry
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "must be a whole number")
    return value


Whole = Annotated[int, BeforeValidator(_not_a_switch)]
"""A whole number, which true and false are not."""
Score100 = Annotated[Whole, Field(ge=0, le=100)]
"""A whole number from 0 to 100."""
