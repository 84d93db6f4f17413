"""What Python makes of our pickles, and what it writes itself, in the form of pyvalue.AppendJSON.

The request on standard input, as JSON: files (paths of pickles to load), and seed and count of
values to make. The answer: loaded (a dump for each file), and made ([base64 of its pickle, dump]
for each value).
"""

import base64
import importlib.abc
import importlib.machinery
import json
import math
import pickle
import random
import sys
import types
from fractions import Fraction

try:
    import numpy as np
except ImportError as e:
    print(e, file=sys.stderr)
    sys.exit(42)


class Recorded:
    """An object of the Flatland simulator, which is not here: its arguments and its state."""

    def __new__(cls, *args: object) -> "Recorded":
        self = object.__new__(cls)
        object.__setattr__(self, "args", args)
        return self

    def __setstate__(self, state: object) -> None:
        object.__setattr__(self, "state", state)


class EnumType(type):
    """The type of an enum, whose members have any name."""

    def __getattr__(cls, name: str) -> "Recorded":
        if name.startswith("_"):
            raise AttributeError(name)
        return Named(cls, name)


class Named:
    """A member of an enum by its name."""

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name


class Simulator(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds flatland and all below it: modules that have a class of every name."""

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] == "flatland":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return types.ModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        classes: dict[str, type] = {}

        def find(name: str) -> type:
            if name.startswith("_"):
                raise AttributeError(name)
            if name not in classes:
                classes[name] = EnumType(name, (Recorded,), {"__module__": module.__name__})
            return classes[name]

        module.__getattr__ = find  # type: ignore[method-assign]


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def dump(v: object) -> object:
    match v:
        case np.generic():
            return {"$np": v.dtype.str, "value": dump(v.item())}
        case np.ndarray():
            data = [dump(x) for x in v.flatten().tolist()]
            return {"$ndarray": v.dtype.str, "shape": list(v.shape), "data": data}
        case float() if not math.isfinite(v):
            return {"$float": repr(v)}
        case None | bool() | int() | float() | str():
            return v
        case bytes():
            return {"$bytes": base64.b64encode(v).decode()}
        case list():
            return [dump(x) for x in v]
        case tuple():
            return {"$tuple": [dump(x) for x in v]}
        case set() | frozenset():
            items = sorted((dump(x) for x in v), key=text)
            return {"$set" if isinstance(v, set) else "$frozenset": items}
        case dict():
            if all(isinstance(k, str) and not k.startswith("$") for k in v):
                return {k: dump(x) for k, x in v.items()}
            return {"$dict": [[dump(k), dump(x)] for k, x in v.items()]}
        case Fraction():
            return {"$obj": "fractions.Fraction", "args": [v.numerator, v.denominator]}
        case Named():
            return {"$obj": "builtins.getattr", "args": [{"$class": name_of(v.cls)}, v.name]}
        case Recorded():
            out = {"$obj": name_of(type(v)), "args": [dump(x) for x in v.args]}
            if hasattr(v, "state"):
                out["state"] = dump(v.state)
            return out
    raise TypeError(f"{type(v)} in a pickle")


def text(v: object) -> str:
    return json.dumps(v, separators=(",", ":"))


TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def numbers(r: random.Random, shape: tuple[int, ...]) -> np.ndarray:
    t = np.dtype(r.choice(TYPES))
    if r.random() < 0.3:
        t = t.newbyteorder(">")
    raw = r.randbytes(t.itemsize * math.prod(shape))
    if t.kind == "b":
        raw = bytes(x & 1 for x in raw)
    a = np.frombuffer(raw, t).reshape(shape)
    return np.asfortranarray(a) if r.random() < 0.3 else a


def leaf(r: random.Random) -> object:
    return r.choice(
        [
            lambda: None,
            lambda: r.random() < 0.5,
            lambda: r.choice([-1, 1]) * r.getrandbits(r.choice([1, 8, 16, 31, 32, 62])),
            lambda: r.choice(
                [1.0, -0.0, 1e16, 1e15, 1e-5, 1e-4, 5e-324, math.inf, -math.inf, math.nan]
            ),
            lambda: r.uniform(-1, 1) * 10 ** r.randint(-20, 20),
            lambda: r.choice(["", 'aé€😀\x7f"\\\n', "x" * r.choice([254, 255, 256, 257])]),
        ]
    )()


def big(r: random.Random) -> int:
    bits = r.choice([7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 2047])
    return r.choice([-1, 1]) * (1 << bits) + r.randint(-1, 1)


def value(r: random.Random, depth: int) -> object:
    """A value for a pickle."""
    n = r.randint(0, 4)
    deeper = [
        lambda: [value(r, depth - 1) for _ in range(n)],
        lambda: tuple(value(r, depth - 1) for _ in range(n)),
        lambda: {f"k{i}": value(r, depth - 1) for i in range(n)},
        lambda: {(i, r.randint(0, 9)): value(r, depth - 1) for i in range(n)},
        lambda: [value(r, depth - 1)] * n,
    ]
    flat = [
        lambda: leaf(r),
        lambda: big(r),
        lambda: r.randbytes(r.choice([0, 1, 255, 256])),
        lambda: {(i, i + 1) for i in range(n)},
        lambda: frozenset(range(n)),
        lambda: Fraction(r.randint(-9, 9), r.randint(1, 9)),
        lambda: numbers(r, ())[()],
        lambda: numbers(r, tuple(r.randint(0, 3) for _ in range(r.randint(0, 4)))),
    ]
    return r.choice(deeper + flat if depth > 0 else flat)()


def main() -> None:
    sys.meta_path.append(Simulator())
    request = json.load(sys.stdin)
    loaded = []
    for path in request["files"]:
        with open(path, "rb") as f:
            loaded.append(text(dump(pickle.load(f))))
    r = random.Random(request["seed"])
    made = []
    for i in range(request["count"]):
        v = value(r, 4)
        made_of = text(dump(v))
        # Protocol 3 has no sets, only calls that make one.
        old = i % 2 == 0 and 'set":' not in made_of
        data = pickle.dumps(v, protocol=3 if old else 4)
        made.append([base64.b64encode(data).decode(), made_of])
    json.dump({"loaded": loaded, "made": made}, sys.stdout)


main()
