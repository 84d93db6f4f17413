"""The bench beside the engine: the real one where SKYRAIL names it, and stand-ins for it that
answer from golden data, right and wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench" / "flight_peer.py"
EPISODES = 3
BOARD = golden.load("board")


def _golden_rows() -> list[dict[str, Any]]:
    rows = []
    for name, flown in BOARD.items():
        episodes = flown[:EPISODES]
        rows.append(
            {
                "agent": name,
                "failed": sum(not e["completed"] for e in episodes),
                "congestion": sum(e["congestion"] for e in episodes),
                "exit_miss": float(np.mean([float(e["exit_miss"]) for e in episodes])),
                "clearances": sum(e["clearances"] for e in episodes),
                "touched": sum(e["aircraft_involved"] for e in episodes),
            }
        )
    return rows


def _stand_in(
    folder: Path, compare: dict[str, Any], remark: str = ""
) -> subprocess.CompletedProcess[str]:
    seeds = "# public\n" + "\n".join(str(e["seed"]) for e in BOARD["noop"])
    engine = folder / "skyrail"
    engine.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"print({remark!r}, file=sys.stderr)\n"
        f"print({seeds!r} if sys.argv[1:] == ['flight', 'seeds'] else {json.dumps(compare)!r})\n"
    )
    engine.chmod(0o755)
    return _run_bench(engine)


def _run_bench(engine: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, BENCH, "--skyrail", engine, "--json", "--repeat", "1"]
    return subprocess.run(
        [*map(str, command), "--episodes", str(EPISODES)], capture_output=True, text=True
    )


@pytest.mark.skipif("SKYRAIL" not in os.environ, reason="SKYRAIL names no binary; make test does")
def test_the_real_engine_agrees() -> None:
    done = _run_bench(os.environ["SKYRAIL"])
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["boards_agree"]
    assert report["engine_reports_own_time"]


def test_equal_boards_agree(tmp_path: Path) -> None:
    done = _stand_in(tmp_path, {"boards": [{"rows": _golden_rows()}]}, "flew 9 episodes in 0.5 s")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["boards_agree"]
    assert report["steps"] == sum(e["steps"] for f in BOARD.values() for e in f[:EPISODES])
    assert report["in_process"]["engine"]["seconds"] == 0.5
    assert report["in_process"]["ratio"] == report["in_process"]["peer"]["seconds"] / 0.5


def test_without_a_time_of_its_own_the_whole_process_stands_in(tmp_path: Path) -> None:
    report = json.loads(_stand_in(tmp_path, {"boards": [{"rows": _golden_rows()}]}).stdout)
    assert not report["engine_reports_own_time"]
    assert report["in_process"]["engine"] == report["whole_process"]["engine"]


def test_a_different_figure_is_named(tmp_path: Path) -> None:
    rows = _golden_rows()
    rows[0]["congestion"] += 1
    done = _stand_in(tmp_path, {"boards": [{"rows": rows}]})
    assert done.returncode == 4
    (difference,) = json.loads(done.stdout)["board_differences"]
    assert difference.startswith(f"{rows[0]['agent']} congestion: ")


@pytest.mark.parametrize("compare", [{}, {"boards": []}, {"boards": [{"rows": [{}]}]}])
def test_an_unexpected_answer_is_a_fault(tmp_path: Path, compare: dict[str, Any]) -> None:
    done = _stand_in(tmp_path, compare)
    assert done.returncode == 1
    assert done.stderr.startswith("flight_peer: compare --json")
