"""Part `loop`: capture, extract, recompile with the profile, and what XLA's log says of it."""

import json
import re
import statistics
import subprocess

from jobs import run_in_turn

FIRST, STEPS = 12, 20
LOAD = re.compile(r"--xla_gpu_load_autotune_results_from=\S+")
ASYNC_FUSION = re.compile(r"^(\S*-)?fusion(\.\d+)*-(start|done)|^fusion-(start|done)")


def inspect(bench, *args):
  """(status, output) of pgle-inspect."""
  done = subprocess.run([str(bench.tool("pgle-inspect")), *map(str, args)], capture_output=True,
                        text=True, timeout=60)
  return done.returncode, done.stdout + done.stderr


def one_run(bench, job):
  run_in_turn([job], bench.left)
  if job.status:
    bench.failed(job)
  return not job.status


def run(bench):
  pins = bench.folder("pins")
  capture = bench.train_job(
      "capture", "unrolled", steps=FIRST + STEPS + 6, pinned=False,
      capture=["--pin-autotune", pins, "--steps", f"{FIRST}:{FIRST + STEPS}"])
  if not one_run(bench, capture):
    return
  bench.keep(capture, "loop.capture")
  flag = LOAD.search(capture.text())
  bench.row("--pin-autotune prints the flag", flag is not None, flag.group(0) if flag else "none")
  answer = bench.extract(capture, "profile.pb")
  if not answer:
    return
  profile = capture.folder / "profile.pb"
  flags = [f"--xla_gpu_pgle_profile_file_or_directory_path={profile}"]
  flags += [flag.group(0).strip("\"'")] if flag else []
  dump = bench.folder("dump")
  flags += [f"--xla_dump_to={dump}", "--xla_dump_hlo_as_proto",
            "--xla_dump_hlo_module_re=jit_train_step"]
  again = bench.train_job("recompile", "unrolled", steps=FIRST + STEPS + 6, flags=flags,
                          pinned=False, env={"TF_CPP_MIN_LOG_LEVEL": 0})
  if not one_run(bench, again):
    return
  # Steps outside the window against steps of the new compile: only to be told.
  before = statistics.median(capture.result()["step_us"][4:FIRST - 2])
  after = statistics.median(again.result()["step_us"][4:])
  bench.row("step time with the profile", None,
            f"{after / 1000:.3f} ms, without {before / 1000:.3f} ms")
  status, said = inspect(bench, "check", "--log", again.log(), "--module", "jit_train_step")
  bench.row("pgle-inspect check", status == 0, " | ".join(said.strip().splitlines()[-2:]))
  names(bench, again, answer)
  hlo = sorted(dump.rglob("*jit_train_step*after_optimizations.hlo.pb"))
  if hlo:
    status, said = inspect(bench, "coverage", "--hlo", hlo[0], profile, "--min", "99.9%")
    lines = [l.strip() for l in said.splitlines() if "coverage" in l]
    bench.row("pgle-inspect coverage of the new compile", status == 0, " ".join(lines)[:200])


def names(bench, job, answer):
  """What the accuracy checker misses: asynchronous fusions at most."""
  status, said = inspect(bench, "log", job.log(), "--module", "jit_train_step", "--json")
  try:
    compiles = [c for p in json.loads(said)["processes"] for m in p["modules"]
                for c in m["compiles"]]
  except (ValueError, KeyError):
    bench.row("names that XLA asks for", False, f"pgle-inspect log, status {status}: {said[:200]}")
    return
  left = {name for m in answer["modules"] for name in m["coverage"].get("left_to_xla", [])}
  missing = {name for c in compiles for name in c["missing_names"]}
  others = sorted(n for n in missing if n not in left and not ASYNC_FUSION.match(n))
  found = [c["found_lookups"] for c in compiles]
  used = any(c["profile_found"] for c in compiles)
  bench.row("XLA finds every computation and collective", used and not others,
            f"found {found}, missing {len(missing)} asynchronous fusions, {len(others)} others: "
            f"{' '.join(others[:8]) or 'none'}")
