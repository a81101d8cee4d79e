"""A policy as text: read from TOML or the environment, written as TOML that reads back the same."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import get_args, get_origin, get_type_hints

from headgate.errors import PolicyError
from headgate.policy import Policy, ToolRule
from headgate.presets import preset
from headgate.types import UNITS, Amount, Unit

ENVIRONMENT_PREFIX = "HEADGATE_"

NOT_POLICY = re.compile(
    "STATE_DIR|SESSION|PRESET|POLICY|DEBUG|PASSTHROUGH|TOKEN|HEADER_[0-9]+|EXAMPLES|CLIENTS"
)
"""Variables of ours that say something else."""

AMOUNT = re.compile(r"([0-9][0-9_,]*)(?: +([a-z]+))?")


def policy_from_toml(text: str, *, start: Policy | None = None) -> Policy:
    """Read a policy; `preset = "…"` names the one it starts from, the default if nothing does."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"not TOML: {error}") from error
    name = table.pop("preset", None)
    if name is not None and not isinstance(name, str):
        raise PolicyError(f"preset is {name!r}; it takes a name")
    first = preset(name) if name is not None else start or Policy()
    return _changed(first, table)


def policy_from_environment(environ: Mapping[str, str], *, start: Policy | None = None) -> Policy:
    """Apply `HEADGATE_RESULT=4000`, `HEADGATE_SHARING=even` and the like to a policy."""
    first = start or preset(environ.get("HEADGATE_PRESET") or "default")
    table: dict[str, object] = {}
    for variable, value in sorted(environ.items()):
        name = variable.removeprefix(ENVIRONMENT_PREFIX)
        if variable.startswith(ENVIRONMENT_PREFIX) and not NOT_POLICY.fullmatch(name):
            table[name.lower()] = _inline(variable, value)
    return _changed(first, table)


def _inline(variable: str, value: str) -> object:
    """A table or a list as TOML writes it on one line: `{ calls = { halt = 20 } }`."""
    if not value.startswith(("{", "[")):
        return value
    what = "table" if value.startswith("{") else "list"
    try:
        return tomllib.loads(f"given = {value}")["given"]
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{variable} is {value!r}, which is no TOML {what}: {error}") from error


def policy_to_toml(policy: Policy) -> str:
    """Write a policy so that reading it gives the same one."""
    lines: list[str] = []
    tables: list[str] = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if isinstance(value, Mapping) and not value:
            lines.append(f"{field.name} = {{}}")
        elif isinstance(value, Mapping):
            gone = [name for name in getattr(Policy(), field.name) if name not in value]
            rows = [f'{_quoted(name)} = "none"' for name in gone]
            tables += ["\n".join(["", f"[{field.name}]", *rows])] if rows else []
            tables += [_table(f"{field.name}.{_quoted(str(k))}", rule) for k, rule in value.items()]
        elif dataclasses.is_dataclass(value) and not isinstance(value, Amount | type):
            tables.append(_table(field.name, value))
        else:
            lines.append(f"{field.name} = {_toml(value)}")
    return "\n".join([*lines, *tables, ""])


def _table(name: str, value: object) -> str:
    assert dataclasses.is_dataclass(value)
    fields = dataclasses.fields(value)
    rows = [f"{field.name} = {_toml(getattr(value, field.name))}" for field in fields]
    return "\n".join(["", f"[{name}]", *rows])


def _toml(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Amount):
        return _quoted(str(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        return _quoted(value)
    if dataclasses.is_dataclass(value):
        rows = [(row.name, getattr(value, row.name)) for row in dataclasses.fields(value)]
        given = [f"{name} = {_toml(item)}" for name, item in rows if item is not None]
        return f"{{ {', '.join(given)} }}" if given else "{}"
    return repr(value)


def _quoted(text: str) -> str:
    """A string as TOML has it: as JSON, but for DEL, and characters beyond 16 bits as they are."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@cache
def _hints(of: type) -> dict[str, object]:
    return get_type_hints(of)


def _changed(policy: Policy, table: Mapping[str, object]) -> Policy:
    changes: dict[str, object] = {}
    if policy == Policy() and "result" in table:
        # The unit comes first: what stays at its default is then said in it.
        policy = policy.replace(result=_amount("result", table["result"], policy.unit))
    for name, value in table.items():
        if name not in _hints(Policy):
            known = ", ".join(_hints(Policy))
            raise PolicyError(f"{name!r} is no part of a policy; there is {known}")
        changes[name] = _value(name, value, _hints(Policy)[name], policy.unit)
        if isinstance(value, Mapping):
            changes[name] = _merged(getattr(policy, name), changes[name], value)
    return policy.replace(**_in_one_unit(changes, policy))


def _merged(before: object, given: object, said: Mapping[str, object]) -> object:
    """What stood there, changed in what was said; of rules, no name at all leaves none."""
    if isinstance(before, Mapping) and isinstance(given, dict):
        rules = {**before, **given} if said else {}
        for name in before.keys() & given.keys():
            rules[name] = _merged(before[name], given[name], _named(said[name]))
        return {name: rule for name, rule in rules.items() if rule is not None}
    if not dataclasses.is_dataclass(before) or isinstance(before, type) or given is None:
        return given
    return dataclasses.replace(before, **{field: getattr(given, field) for field in said})


def _named(said: object) -> Mapping[str, object]:
    return said if isinstance(said, Mapping) else {}


def _in_one_unit(changes: dict[str, object], policy: Policy) -> dict[str, object]:
    """Amounts without a unit follow the one of `result`, given or not."""
    result = changes.get("result", policy.result)
    unit = result.unit if isinstance(result, Amount) else policy.unit
    return {name: _with_unit(value, unit) for name, value in changes.items()}


def _with_unit(value: object, unit: Unit) -> object:
    if isinstance(value, _Bare):
        return Amount(value.count, unit)
    if dataclasses.is_dataclass(value) and not isinstance(value, type | Amount):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        bare = {name: item for name, item in fields.items() if isinstance(item, _Bare)}
        said = {name: Amount(item.count, unit) for name, item in bare.items()}
        return dataclasses.replace(value, **said)
    if isinstance(value, dict):
        return {name: _with_unit(item, unit) for name, item in value.items()}
    return value


class _Bare(Amount):
    """A number whose unit was not said."""

    __slots__ = ()


def _value(name: str, value: object, hint: object, unit: Unit) -> object:
    """Read one entry as the type its field has."""
    options = get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if type(None) in options and value in ("none", ""):
        return None
    hint = next(option for option in options if option is not type(None))
    if hint is Amount:
        return _amount(name, value, unit)
    if get_origin(hint) is typing.Literal:
        return _word(name, value, get_args(hint))
    if get_origin(hint) is tuple:
        return _several(name, value, get_args(hint)[0])
    if isinstance(hint, type) and _is_record(hint):
        return _record(name, value, hint, unit)
    if typing.cast(object, get_origin(hint)) is Mapping:
        return _rules(name, value, unit)
    return _scalar(name, value, hint)


def _amount(name: str, value: object, unit: Unit) -> Amount:
    match = AMOUNT.fullmatch(str(value).strip())
    if isinstance(value, bool) or not match:
        raise PolicyError(
            f'{name} is {value!r}; it takes a number, or one with its unit: "8000 tokens"'
        )
    count = int(re.sub("[_,]", "", match[1]))
    given = next((known for known in UNITS if known == match[2]), None)
    if match[2] and given is None:
        raise PolicyError(f"{name} is {value!r}; a unit is one of {', '.join(UNITS)}")
    return Amount(count, given) if given else _Bare(count, unit)


def _word(name: str, value: object, words: tuple[object, ...]) -> object:
    if value not in words:
        raise PolicyError(f"{name} is {value!r}; it is one of {', '.join(map(str, words))}")
    return value


def _words(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise PolicyError(f"{name} is {value!r}; it takes a list of words")


def _several(name: str, value: object, of: object) -> tuple[object, ...]:
    """A list of words, of numbers, or of rows of words."""
    if of is str:
        return _words(name, value)
    if get_origin(of) is typing.Literal:
        return tuple(_word(name, word, get_args(of)) for word in _words(name, value))
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        raise PolicyError(f"{name} is {value!r}; it takes a list")
    if get_origin(of) is tuple:
        return tuple(_row(name, item, len(get_args(of))) for item in items)
    return tuple(_scalar(name, item, of) for item in items)


def _row(name: str, value: object, length: int) -> tuple[str, ...]:
    row = _words(name, value)
    if len(row) != length:
        raise PolicyError(f"{name} has {value!r}; each of its lists has {length} words")
    return row


def _rules(name: str, value: object, unit: Unit) -> dict[str, object]:
    if not isinstance(value, dict):
        raise PolicyError(f"{name} is {value!r}; it takes a table for each tool")
    return {
        # "none" takes away the rule that stood there.
        tool: None if rule == "none" else _record(f"{name}.{tool}", rule, ToolRule, unit)
        for tool, rule in value.items()
    }


def _is_record(of: type) -> bool:
    """Whether it is a part of a policy that is a table of its own."""
    return dataclasses.is_dataclass(of) and of is not Amount


def _record(name: str, value: object, of: type, unit: Unit) -> object:
    if not isinstance(value, dict):
        raise PolicyError(f"{name} is {value!r}; it takes a table")
    hints = _hints(of)
    for field in value:
        if field not in hints:
            raise PolicyError(f"{name}.{field} is unknown; there is {', '.join(hints)}")
    read = {
        field: _value(f"{name}.{field}", given, hints[field], unit)
        for field, given in value.items()
    }
    if left_out := _needed(of) - read.keys():
        raise PolicyError(f"{name} leaves out {', '.join(sorted(left_out))}")
    return of(**read)


def _needed(of: type) -> set[str]:
    """The fields that have no default."""
    assert dataclasses.is_dataclass(of)
    return {
        field.name
        for field in dataclasses.fields(of)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }


def _scalar(name: str, value: object, hint: object) -> object:
    if hint is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise PolicyError(f"{name} is {value!r}; it is true or false")
    if hint is str and isinstance(value, str):
        return value
    if hint in (int, float) and not isinstance(value, bool):
        try:
            return int(str(value).replace("_", "")) if hint is int else float(str(value))
        except ValueError:
            pass
    takes = "text" if hint is str else "a whole number" if hint is int else "a number"
    raise PolicyError(f"{name} is {value!r}; it takes {takes}")
