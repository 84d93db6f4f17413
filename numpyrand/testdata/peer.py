"""Answers the requests of peer_test.go with NumPy's own draws.

The request is a JSON list of sessions, for a Generator {entropy, list, draws}, for a RandomState {how, seed, draws}.
Printed is {"numpy": version, "answers": ...}, where answers holds per session, per draw, the list of its results as
decimal strings; floats as their bits. A call that NumPy refuses answers ["error"].
"""

import hashlib
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


def choice(rng, d, **shuffle):
    op = d["op"].split()
    p = d["p"] if "weighted" in op else None
    items = d["k"] if p is None else len(p)
    if "distinct" in op:
        return rng.choice(items, size=d["n"], replace=False, p=p, **shuffle)
    return rng.choice(items, size=d["n"] if "n" in op else None, p=p)


class Generator:
    def __init__(self, session):
        entropy = [int(e) for e in session["entropy"]]
        seq = np.random.SeedSequence(entropy if session["list"] else entropy[0])
        self.rng = np.random.Generator(np.random.PCG64(seq))

    def answer(self, d):
        rng, op, size = self.rng, d["op"], d["n"] or None
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
            low, high, dtype = int(d["low"]), int(d["high"]), getattr(np, d["dtype"])
            return rng.integers(low, high, size=size, dtype=dtype, endpoint=d["closed"])
        if op.startswith("choice"):
            return choice(rng, d, shuffle=d["shuffle"])
        if op == "generate state":
            return rng.bit_generator.seed_seq.generate_state(d["n"])
        if op == "generate state 64":
            return rng.bit_generator.seed_seq.generate_state(d["n"], np.uint64)
        if op == "state":
            s = rng.bit_generator.state
            return [s["state"]["state"], s["state"]["inc"], s["has_uint32"], s["uinteger"]]
        if op == "set state":
            rng.bit_generator.state = {
                "bit_generator": "PCG64",
                "state": {"state": int(d["low"]), "inc": int(d["high"])},
                "has_uint32": int(d["closed"]),
                "uinteger": d["k"],
            }
            return []
        if op == "advance":
            rng.bit_generator.advance(int(d["low"]))
            return []
        raise SystemExit(f"unknown op {op!r} of a Generator")


class RandomState:
    def __init__(self, session):
        how, seed = session["how"], [int(v) for v in session["seed"]]
        if how == "hashed":
            digest = hashlib.sha512(str(seed[0]).encode()).digest()
            number = int.from_bytes(digest[:8], "little")
            seed = [number % 2**32] + [number >> 32] * (number >= 2**32)
        self.rng = np.random.RandomState(seed[0] if how == "one" else seed)

    def answer(self, d):
        rng, op, size = self.rng, d["op"], d["n"] or None
        if op == "uint32":
            return rng.randint(0, 2**32, dtype=np.uint32)
        if op == "random":
            return bits(rng.random_sample(size))
        if op == "randint":
            low, high, dtype = int(d["low"]), int(d["high"]) + 1, d["dtype"]
            if dtype == "":
                return rng.randint(low, high, size=size)
            return rng.randint(low, high, size=size, dtype=np.dtype(dtype).type)
        if op.startswith("choice"):
            return choice(rng, d)
        if op == "permutation":
            return rng.permutation(d["n"])
        if op == "shuffle":
            items = list(range(d["n"]))
            rng.shuffle(items)
            return items
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
            _, key, pos, has_gauss, gauss = rng.get_state()
            digest = hashlib.sha256(key.astype("<u4").tobytes()).hexdigest()
            return [pos, has_gauss, bits(gauss)[0], int(digest[:16], 16)]
        if op == "set state":
            key = np.random.RandomState(int(d["low"])).get_state()[1]
            rng.set_state(("MT19937", key, d["k"], int(d["closed"]), d["a"]))
            return []
        raise SystemExit(f"unknown op {op!r} of a RandomState")


def answer_or_error(stream, d):
    try:
        values = stream.answer(d)
    except ValueError:
        return ["error"]
    return [str(int(v)) for v in (values if isinstance(values, list) else np.atleast_1d(values))]


def play(session):
    stream = RandomState(session) if "how" in session else Generator(session)
    return [answer_or_error(stream, d) for d in session["draws"]]


answers = [play(session) for session in json.load(sys.stdin)]
json.dump({"numpy": np.__version__, "answers": answers}, sys.stdout)
