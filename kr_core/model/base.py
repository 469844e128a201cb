"""What all values share."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value; unknown keys are an error, so that a misspelt one is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)
