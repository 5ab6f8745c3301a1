"""An audit as a file: predictions, seed and answers, as JSON and arrays; no code of the file is ever run."""

import io
import os
from typing import Any

import numpy as np

from cusal.audit.checks import Checks
from cusal.audit.order import Design
from cusal.audit.predictions import Claims
from cusal.errors import DataError
from cusal.persistence.object_file import as_bytes, checked, header, read_objects, write_objects

KIND = "cusal audit"


def write_checks(path: str | os.PathLike[str], checks: Checks) -> None:
    """Write an audit to a file, completely or not at all."""
    write_objects(path, _content(checks))


def pack_checks(checks: Checks) -> bytes:
    """Return what `write_checks` writes to a file."""
    return as_bytes(_content(checks))


def unpack_checks(content: bytes) -> Checks:
    """Return the audit of what `pack_checks` returned, or raise a DataError."""
    return _checks_of(read_objects(io.BytesIO(content)), "the packed audit")


def _content(checks: Checks) -> dict[str, Any]:
    claims, answers, design = checks.claims, checks.answers, checks.design
    return {
        **header(KIND),
        "seed": checks.seed,
        "design": {"trust": design.trust, "by_class": design.by_class, "seeks": design.seeks},
        "groups": checks.groups,
        "identities": checks.identities,
        "predicted": claims.predicted,
        "confidence": claims.confidence,
        "known": claims.known,
        "names": list(claims.names),
        "right": [[item, right] for item, right in answers.right.items()],
        "true": [[item, label] for item, label in answers.true.items()],
        "hunting_since": checks.hunting_since,
    }


def read_checks(path: str | os.PathLike[str]) -> Checks:
    """Return the audit of a file, or raise a DataError that names what is wrong with it."""
    return _checks_of(read_objects(path), str(path))


def _checks_of(content: Any, path: str) -> Checks:
    content = checked(content, KIND, path)
    try:
        claims = Claims(content["predicted"], content["confidence"], tuple(content["names"]), content["known"])
        design = Design(**content["design"])
        checks = Checks(claims, content["identities"], content["seed"], design, content["groups"])
        checks.answers.right = {int(item): right for item, right in content["right"]}
        checks.answers.true = {int(item): label for item, label in content["true"]}
        checks.hunting_since = content["hunting_since"]
        _check(checks)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged ({error}); expected a file written by Audit.save.") from error
    return checks


def _check(checks: Checks) -> None:
    claims, count = checks.claims, len(checks.claims)
    lengths = {len(claims.confidence), len(claims.known), len(checks.identities)}
    if lengths != {count}:
        raise ValueError(f"its parts have {sorted(lengths | {count})} rows")
    in_range = 0 <= claims.predicted.min() <= claims.predicted.max() < len(claims.names)
    if not in_range or not np.isfinite(claims.confidence).all():
        raise ValueError("a prediction is out of range")
    design, groups = checks.design, checks.groups
    if not (0 <= design.trust <= 1 and 0 <= design.by_class <= 1 - design.trust):
        raise ValueError("the constants of its order are out of range")
    if design.seeks is not None and not 0 <= design.seeks < len(claims.names):
        raise ValueError("its order looks for a class that is not there")
    if groups is not None and (groups.shape != (count,) or not 0 <= groups.min() <= groups.max() < count):
        raise ValueError("its groups are not those of its items")
    if any(not 0 <= item < count for item in checks.answers.right):
        raise ValueError("an answer is about an item that is not there")
