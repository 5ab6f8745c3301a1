"""The kinds of value that calls carry, with their bounds: what lies outside never reaches the project."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

NO_CONTROL = r"^[^\u0000-\u001f\u007f]+$"  # no line breaks, and no NUL, which PostgreSQL cannot store
NO_NUL = r"^[^\u0000]*$"


def _whole(value: object) -> object:
    """Return 5 for 5.0, which JSON takes for the same number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)  # after the bounds of a number: so they stay in its description
Id = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE]
Uuid = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Person = Annotated[str, Field(min_length=1, max_length=80, pattern=NO_CONTROL)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_CONTROL)]
Key = Annotated[str, Field(max_length=1, pattern=r"^[^\u0000-\u0020\u007f]*$")]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
Prose = Annotated[str, Field(max_length=2000, pattern=NO_NUL)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
AnswerKind = Literal["label", "skip", "unsure"]


class Call(BaseModel):
    """What a caller sends; a field that is not known, or true in place of 1, is an error and not a surprise."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Reply(BaseModel):
    """What the server answers."""


class Failure(Reply):
    """One plain sentence about what was wrong."""

    error: str
