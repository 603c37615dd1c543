"""json_shape.py FILE SHAPE: checks that a JSON file has a shape, itself JSON.

A shape is an object of all keys (in order), an array of one shape that every element has, or the name
of a type: "string", "int", "number", "bool"; "?" behind it permits null. The string "=x" is the value x.
"""
import json
import sys

TYPES = {"string": str, "int": int, "number": (int, float), "bool": bool}


def faults(value, shape, where):
    if isinstance(shape, dict):
        if not isinstance(value, dict) or list(value) != list(shape):
            keys = list(value) if isinstance(value, dict) else type(value).__name__
            return [f"{where}: {keys}, not {list(shape)}"]
        return [f for key in shape for f in faults(value[key], shape[key], f"{where}.{key}")]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: no array"]
        return [f for i, item in enumerate(value) for f in faults(item, shape[0], f"{where}[{i}]")]
    if shape.startswith("="):
        return [] if value == shape[1:] else [f"{where}: {value!r}, not {shape[1:]!r}"]
    if value is None:
        return [] if shape.endswith("?") else [f"{where}: null"]
    kind = TYPES[shape.rstrip("?")]
    good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return [] if good else [f"{where}: {value!r} is no {shape}"]


found = faults(json.load(open(sys.argv[1])), json.loads(sys.argv[2]), "$")
if found:
    print("\n".join(found[:10]), file=sys.stderr)
sys.exit(1 if found else 0)
