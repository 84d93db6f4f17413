"""Answers the requests of numpy_test.go with NumPy's own draws.

The test runs this file from standard input, after a line that sets REQUEST: a JSON list of sessions
{entropy, list, draws}. Printed is {"numpy": version, "answers": ...}, where answers holds per session, per draw,
the list of its results as decimal strings; floats as their bits. A call that NumPy refuses answers ["error"].
"""

import json
import sys

try:
    import numpy as np
except ImportError as err:
    print(err, file=sys.stderr)
    sys.exit(42)  # told apart from a failure by the test


def bits(values):
    """The bits of float64 or float32 values, as integers."""
    a = np.atleast_1d(np.asarray(values))
    return a.view(np.uint32 if a.dtype == np.float32 else np.uint64)


def state(rng):
    s = rng.bit_generator.state
    return [s["state"]["state"], s["state"]["inc"], s["has_uint32"], s["uinteger"]]


def set_state(rng, d):
    words = {"state": int(d["low"]), "inc": int(d["high"])}
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": words,
        "has_uint32": int(d["closed"]),
        "uinteger": d["k"],
    }
    return []


def integers(rng, d):
    return rng.integers(
        int(d["low"]),
        int(d["high"]),
        size=d["n"] or None,
        dtype=getattr(np, d["dtype"]),
        endpoint=d["closed"],
    )


def answer(rng, d):
    op, size = d["op"], d["n"] or None
    if op == "raw":
        return rng.bit_generator.random_raw()
    if op == "uint32":
        return rng.integers(0, 2**32 - 1, dtype=np.uint32, endpoint=True)
    if op == "random":
        return bits(rng.random(size))
    if op == "float32":
        return bits(np.asarray(rng.random(size, dtype=np.float32), dtype=np.float32))
    if op == "uniform":
        return bits(rng.uniform(d["a"], d["b"], size))
    if op == "integers":
        return integers(rng, d)
    if op == "choice":
        return rng.choice(d["k"])
    if op == "choice n":
        return rng.choice(d["k"], size=d["n"])
    if op == "choice distinct":
        return rng.choice(d["k"], size=d["n"], replace=False, shuffle=d["shuffle"])
    if op == "choice weighted":
        return rng.choice(len(d["p"]), p=d["p"])
    if op == "choice n weighted":
        return rng.choice(len(d["p"]), size=d["n"], p=d["p"])
    if op == "choice distinct weighted":
        return rng.choice(len(d["p"]), size=d["n"], replace=False, p=d["p"], shuffle=d["shuffle"])
    if op == "generate state":
        return rng.bit_generator.seed_seq.generate_state(d["n"])
    if op == "generate state 64":
        return rng.bit_generator.seed_seq.generate_state(d["n"], np.uint64)
    if op == "state":
        return state(rng)
    if op == "set state":
        return set_state(rng, d)
    if op == "advance":
        rng.bit_generator.advance(int(d["low"]))
        return []
    raise SystemExit(f"unknown op {op!r}")


def answer_or_error(rng, d):
    try:
        values = answer(rng, d)
    except ValueError:
        return ["error"]
    return [str(int(v)) for v in (values if isinstance(values, list) else np.atleast_1d(values))]


def play(session):
    entropy = [int(e) for e in session["entropy"]]
    seq = np.random.SeedSequence(entropy if session["list"] else entropy[0])
    rng = np.random.Generator(np.random.PCG64(seq))
    return [answer_or_error(rng, d) for d in session["draws"]]


answers = [play(session) for session in json.loads(REQUEST)]
json.dump({"numpy": np.__version__, "answers": answers}, sys.stdout)
