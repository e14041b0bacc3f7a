"""As much of JSON Schema (2020-12) as our schema uses; `jsonschema` is asked as well, if it is installed."""

from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}


def faults(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, where: str = "$"
) -> list[str]:
    """List where a value does not fit a schema."""
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return faults(value, target, root, where)
    if "anyOf" in schema:
        return (
            []
            if any(not faults(value, each, root, where) for each in schema["anyOf"])
            else [f"{where}: none of"]
        )
    if "const" in schema and value != schema["const"]:
        return [f"{where}: not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: not among {schema['enum']}"]
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or (kind == "number" and isinstance(value, bool))):
        return [f"{where}: no {kind}"]
    found = []
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        found.append(f"{where}: too short")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{where}: {len(value)} items")
        for k, item in enumerate(value):
            found += faults(item, schema.get("items", {}), root, f"{where}[{k}]")
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{where}: {key} is missing" for key in schema.get("required", ()) if key not in value]
        for key, item in value.items():
            rule = known.get(key, others)
            if rule is False:
                found.append(f"{where}: {key} is unknown")
            elif rule is not True:
                found += faults(item, rule, root, f"{where}.{key}")
    return found
