"""Hosts a team's environment and policy for the Go engine, which asks over a pipe and gets actions.

    python worker.py REQUESTS ANSWERS

takes two file descriptors. A message is a length, four bytes with the highest first, and as many
bytes of MessagePack: a map. Every request has an `op`, and gets one answer:

`hello`     is answered before anything of the team's is touched.
`host`      loads what the manifest names; must come before those below.
`start`     begins the episode of a seed. Answers an action.
`step`      tells which action was flown. Answers the next, or that the team's environment ended.
`contract`  runs the 24 checks of the contract suite on the team's environment. Answers the report.
`record`    flies given actions in the team's environment. Answers the scored figures of each step,
            and whether the episode had ended after the last.

Only the index of the action is ever read by the engine. Whatever goes wrong in the team's code is
answered as `error`: a stable code, a sentence, and the last lines of the traceback. The pipe is
none of the standard streams, so what the team prints does not reach it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import random
import struct
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import msgpack
import numpy as np

TRACEBACK_LINES = 12

Message = dict[str, Any]


class Refusal(Exception):
    """Something of the team's that cannot be hosted or flown; `code` is stable."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Host:
    """One team's environment and policy, loaded once and used for all its episodes."""

    def __init__(self, request: Message) -> None:
        self.root = Path(request["root"])
        self.scenario: dict[str, Any] = request["scenario"]
        self.scenario["n_range"] = tuple(self.scenario["n_range"])
        self.n_actions: int = request["n_actions"]
        self.deterministic: bool = request["deterministic"]
        self.contract_suite: Any = None
        if request["env_entry_point"]:
            # Before the team's modules, one of which may have our name: then it is free again.
            self.contract_suite = importlib.import_module("skyrail.contract")
            for name in ("skyrail.contract", "skyrail"):
                del sys.modules[name]
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise Refusal("entry-point", "the team's folder is not readable here: chmod -R a+rX it")
        # The team's modules come first, then the stock ones that submissions import by name.
        sys.path[:0] = [str(self.root), request["stock"]]
        _seed_everything()

        self.env_class: Any = None
        self.env: Any = None
        if request["env_entry_point"]:
            self.env_class = self._resolve("env_entry_point", request["env_entry_point"])
        self.policy: Any = None
        self.masked = False
        if request["policy_entry_point"]:
            # quirk: as in the reference, it is made without arguments, once, and its reset() is
            # never called.
            self.policy = self._resolve("policy_entry_point", request["policy_entry_point"])()
            if not callable(getattr(self.policy, "predict", None)):
                raise Refusal(
                    "policy-no-predict",
                    f"{_name(self.policy)} has no method predict(obs, deterministic=...)",
                )
        elif request["model"]:
            self.policy = _load_checkpoint(self.root / request["model"], request["algo"])
            self.masked = type(self.policy).__name__ == "MaskablePPO"
        if self.policy is not None and self.env_class is not None:
            self.env = self.env_class(**self.scenario)

    def _resolve(self, key: str, entry_point: str) -> Any:  # noqa: ANN401 - the team's own class
        """`envs.my_env:MyFlightEnv`, or with a dot for the colon, as the class."""
        module_name, _, class_name = entry_point.replace(":", ".").rpartition(".")
        if not module_name:
            raise Refusal("entry-point", f"{key} {entry_point}: it names no module")
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as missing:
            if not (missing.name and f"{module_name}.".startswith(f"{missing.name}.")):
                raise
            self._must_be_theirs(key, entry_point, module_name)
            reason = f"{key} {entry_point}: there is no module {missing.name}"
            raise Refusal("entry-point", reason) from None
        self._must_be_theirs(key, entry_point, module_name)
        found = getattr(module, class_name, None)
        if found is None:
            reason = f"{key} {entry_point}: {module_name} has no {class_name}"
            raise Refusal("entry-point", reason + _classes_of(module))
        if inspect.ismodule(found):
            reason = f"{key} {entry_point} is a module; name a class in it"
            raise Refusal("entry-point", reason + _classes_of(found))
        if not callable(found):
            raise Refusal("entry-point", f"{key} {entry_point} is not a class")
        return found

    def _must_be_theirs(self, key: str, entry_point: str, module_name: str) -> None:
        """Refuse to take a stock package for one of the team's.

        Python prefers a package further down the path to a folder without an __init__.py, and to
        one that it cannot read.
        """
        package = module_name.split(".")[0]
        if not os.path.lexists(self.root / package):
            return
        taken = sys.modules.get(package)
        # A folder without an __init__.py is a package without a file, if there is no other.
        places = [getattr(taken, "__file__", None), *getattr(taken, "__path__", [])]
        known = [Path(place) for place in places if place]  # a module made by hand has none
        if known and not any(place.is_relative_to(self.root) for place in known):
            raise Refusal(
                "entry-point",
                f"{key} {entry_point}: {package}/ in the team's folder is not taken, but another; "
                f"it needs an __init__.py, and must be readable and no link",
            )

    # ------------------------------------------------------------------ flying

    def start(self, request: Message) -> Message:
        if self.env_class is None:
            return self._decide(_observation(request))
        observation, _ = self.env.reset(seed=request["seed"])
        return self._decide(observation)

    def step(self, request: Message) -> Message:
        if self.env_class is None:
            return self._decide(_observation(request))
        observation, _, terminated, truncated, _ = self.env.step(request["action"])
        if terminated or truncated:
            return {"ended": True}
        return self._decide(observation)

    def _decide(self, observation: Any) -> Message:  # noqa: ANN401 - whatever the team observes
        more = {}
        if self.masked:
            masks = getattr(self.env, "action_masks", None)
            more["action_masks"] = masks() if masks else observation[-self.n_actions :] > 0.5
        answer = self.policy.predict(observation, deterministic=self.deterministic, **more)
        if not (isinstance(answer, (tuple, list)) and len(answer) == 2):
            raise Refusal(
                "bad-action",
                f"predict must return (action, state), not {_short(answer)}",
            )
        return {"action": self._action(answer[0])}

    def _action(self, answer: Any) -> int:  # noqa: ANN401 - whatever the team answers
        action = np.asarray(answer)
        if action.dtype.kind not in "iufb" or action.size != 1:
            raise Refusal(
                "bad-action", f"the action must be one whole number, not {_short(answer)}"
            )
        value = action.reshape(())
        if action.dtype.kind == "f" and not (np.isfinite(value) and value == np.floor(value)):
            raise Refusal("bad-action", f"the action must be a whole number, not {_short(answer)}")
        if not 0 <= value < self.n_actions:
            raise Refusal("bad-action", f"action {int(value)} is outside 0 to {self.n_actions - 1}")
        return int(value)

    # ------------------------------------------------------------------ looking at the environment

    def contract(self, request: Message) -> Message:
        report = self.contract_suite.run(
            lambda **chosen: self.env_class(**{**self.scenario, **chosen})
        )
        return {
            "checks": [
                {"name": check.name, "passed": check.passed, "reason": _text(check.line)}
                for check in report.checks
            ]
        }

    def record(self, request: Message) -> Message:
        env = self.env_class(**self.scenario)
        env.reset(seed=request["seed"])
        figures, ended = [], False
        for action in request["actions"]:
            _, _, terminated, truncated, info = env.step(action)
            figures.append([float(info[key]) for key in self.contract_suite.SCORED_KEYS])
            ended = bool(terminated or truncated)
            if ended:
                break
        return {"figures": figures, "ended": ended}


def _observation(request: Message) -> np.ndarray:
    """The stock observation, which the engine sends: little-endian float32."""
    return np.frombuffer(request["observation"], "<f4").astype(np.float32)


def _load_checkpoint(path: Path, algo: str) -> Any:  # noqa: ANN401 - one of several algorithms
    """A Stable-Baselines3 checkpoint.

    quirk: whatever `algo` says that is not known is loaded as PPO, which is all the reference does.
    """
    contrib = {"maskableppo": "MaskablePPO", "trpo": "TRPO", "qrdqn": "QRDQN"}
    own = {"ppo": "PPO", "a2c": "A2C", "dqn": "DQN"}
    name = algo.lower().replace("-", "").replace("_", "").replace(" ", "")
    package = "sb3_contrib" if name in contrib else "stable_baselines3"
    try:
        algorithms = importlib.import_module(package)
    except ModuleNotFoundError as missing:
        raise Refusal(
            "missing-package",
            f"the checkpoint needs {package}, and {missing.name} is not installed here: "
            f"pip install {package.replace('_', '-')}",
        ) from missing
    return getattr(algorithms, contrib.get(name) or own.get(name, "PPO")).load(path, device="cpu")


def _seed_everything() -> None:
    """Whatever a policy draws from the common streams is drawn again in the next run.

    Torch's own stream has the same seed in every process as it is.
    """
    random.seed(0)
    np.random.seed(0)


def _name(thing: Any) -> str:  # noqa: ANN401
    return type(thing).__name__


def _classes_of(module: Any) -> str:  # noqa: ANN401
    """What there is instead, as the end of a sentence."""
    own = [
        name
        for name, thing in vars(module).items()
        if inspect.isclass(thing) and thing.__module__ == module.__name__
    ]
    return f"; it has {', '.join(own)}" if own else ""


def _short(thing: Any) -> str:  # noqa: ANN401
    try:
        text = repr(thing)
    except Exception:
        text = f"a {type(thing).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def _text(said: str) -> str:
    """Text that can be sent: whatever is no character is replaced."""
    return said[:300].encode("utf-8", "replace").decode()


def _said(error: BaseException) -> str:
    """What an exception says; its text is the team's code too, and may fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:
        return type(error).__name__


def _tail(error: BaseException, root: str) -> list[str]:
    """The last lines of the traceback: of the team's frames if there are any, and the very last.

    The team's files are named from its root.
    """
    told = traceback.TracebackException.from_exception(error)
    own = [frame for frame in told.stack if frame.filename.startswith(root.rstrip("/") + "/")]
    shown = (own or list(told.stack))[-4:]
    if own and told.stack[-1] is not own[-1]:
        shown.append(told.stack[-1])
    told.stack = traceback.StackSummary.from_list(shown)
    lines = "".join(told.format(chain=False)).splitlines()
    return [_text(line.replace(root.rstrip("/") + "/", "")) for line in lines[-TRACEBACK_LINES:]]


# ---------------------------------------------------------------------- the pipe


def _read(pipe: BinaryIO) -> bytes | None:
    """The next message, None at the end of the requests."""
    head = pipe.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    return pipe.read(length)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    host: Host | None = None
    while (body := _read(requests)) is not None:
        request = msgpack.unpackb(body)
        try:
            if request["op"] == "hello":
                answer = {}
            elif request["op"] == "host":
                host = Host(request)
                answer = {}
            else:
                assert host is not None, "the first request must be host"
                answer = getattr(host, request["op"])(request)
            body = msgpack.packb(answer)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt are the team's as well: we are killed, not asked.
            root = str(host.root if host else request.get("root", ""))
            body = msgpack.packb({"error": _failure(error, root)})
        answers.write(struct.pack(">I", len(body)) + body)
        answers.flush()


def _failure(error: BaseException, root: str) -> Message:
    try:
        return _told(error, root)
    except BaseException:  # the team's exceptions can be as odd as they like
        return {"code": "exception", "reason": "an exception that cannot be told", "traceback": []}


def _told(error: BaseException, root: str) -> Message:
    if isinstance(error, Refusal):
        cause = error.__cause__
        lines = _tail(cause, root) if cause else []
        return {"code": error.code, "reason": _text(str(error)), "traceback": lines}
    code, reason = "exception", _said(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = str(error.name).split(".")[0]
        code, reason = "missing-package", f"its code imports {error.name}, which is not there"
        if os.path.isdir(os.path.join(root, package)):
            reason += f"; the team's {package}/ stands in for the stock one as a whole"
    return {"code": code, "reason": _text(reason), "traceback": _tail(error, root)}


def main() -> None:
    requests, answers = (int(argument) for argument in sys.argv[1:3])
    for descriptor in (requests, answers):
        os.set_inheritable(descriptor, False)
    warnings.simplefilter("default")
    # The skyrail package stands beside this file; the folder of the file itself is no place to
    # import from.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    with os.fdopen(requests, "rb") as questions, os.fdopen(answers, "wb") as replies:
        serve(questions, replies)


if __name__ == "__main__":
    main()
