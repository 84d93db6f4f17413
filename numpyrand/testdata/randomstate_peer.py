"""Answers the requests of randomstate_numpy_test.go with NumPy's own draws.

The test runs this file from standard input, after a line that sets REQUEST: a JSON list of sessions
{how, seed, draws}. Printed is {"numpy": version, "answers": ...}, where answers holds per session, per draw,
the list of its results as decimal strings; floats as their bits. A call that NumPy refuses answers ["error"].
"""

import hashlib
import json
import sys

try:
    import numpy as np
except ImportError as err:
    print(err, file=sys.stderr)
    sys.exit(42)  # told apart from a failure by the test


def seeded(how, seed):
    if how == "one":
        return np.random.RandomState(seed[0])
    if how == "hashed":
        digest = hashlib.sha512(str(seed[0]).encode()).digest()
        number = int.from_bytes(digest[:8], "little")
        seed = [number % 2**32] + [number >> 32] * (number >= 2**32)
    return np.random.RandomState(seed)


def bits(values):
    """The bits of float64 values, as integers."""
    return np.atleast_1d(np.asarray(values, dtype=np.float64)).view(np.uint64)


def state(rng):
    _, key, pos, has_gauss, gauss = rng.get_state()
    digest = hashlib.sha256(key.astype("<u4").tobytes()).hexdigest()
    return [pos, has_gauss, bits(gauss)[0], int(digest[:16], 16)]


def set_state(rng, d):
    key = np.random.RandomState(int(d["low"])).get_state()[1]
    rng.set_state(("MT19937", key, d["k"], int(d["closed"]), d["a"]))
    return []


def randint(rng, d, size):
    low, high = int(d["low"]), int(d["high"]) + 1
    if d["dtype"] == "":
        return rng.randint(low, high, size=size)
    dtype = np.bool_ if d["dtype"] == "bool" else getattr(np, d["dtype"])
    return rng.randint(low, high, size=size, dtype=dtype)


def shuffled(rng, n):
    items = list(range(n))
    rng.shuffle(items)
    return items


def answer(rng, d):
    op, size = d["op"], d["n"] or None
    if op == "uint32":
        return rng.randint(0, 2**32, dtype=np.uint32)
    if op == "random":
        return bits(rng.random_sample(size))
    if op == "randint":
        return randint(rng, d, size)
    if op == "choice":
        return rng.choice(d["k"])
    if op == "choice n":
        return rng.choice(d["k"], size=d["n"])
    if op == "choice distinct":
        return rng.choice(d["k"], size=d["n"], replace=False)
    if op == "choice weighted":
        return rng.choice(len(d["p"]), p=d["p"])
    if op == "choice n weighted":
        return rng.choice(len(d["p"]), size=d["n"], p=d["p"])
    if op == "choice distinct weighted":
        return rng.choice(len(d["p"]), size=d["n"], replace=False, p=d["p"])
    if op == "permutation":
        return rng.permutation(d["n"])
    if op == "shuffle":
        return shuffled(rng, d["n"])
    if op == "gauss":
        return bits(rng.standard_normal(size))
    if op == "normal":
        return bits(rng.normal(d["a"], d["b"], size))
    if op == "poisson":
        return rng.poisson(d["a"], size)
    if op == "skip":
        rng.randint(0, 2**32, size=d["k"], dtype=np.uint32)
        return []
    if op == "state":
        return state(rng)
    if op == "set state":
        return set_state(rng, d)
    raise SystemExit(f"unknown op {op!r}")


def answer_or_error(rng, d):
    try:
        values = answer(rng, d)
    except ValueError:
        return ["error"]
    return [str(int(v)) for v in (values if isinstance(values, list) else np.atleast_1d(values))]


def play(session):
    rng = seeded(session["how"], [int(v) for v in session["seed"]])
    return [answer_or_error(rng, d) for d in session["draws"]]


answers = [play(session) for session in json.loads(REQUEST)]
json.dump({"numpy": np.__version__, "answers": answers}, sys.stdout)
