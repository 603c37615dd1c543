"""Part `overhead`: what recording costs a step of about 7 ms with about 1,000 launches.

Programs run in turns: bare, then under pgle-capture, and again. A bare program is traced by
jax.profiler after its bare steps; one under pgle-capture has steps outside and inside the window.
Each run gives one median for each; the figure is the median over the runs. The steps next to the
edges of a window, where a recorder starts and stops, are told apart.
"""

import os
import statistics

import captured
import xspace
from jobs import run_in_turn

ROUNDS = int(os.environ.get("ROUNDS", 3))
WARM, FIRST, LAST, STEPS = 20, 200, 260, 480
EDGE = 3  # steps on each side of an edge that belong to neither
NO_GRAPHS = ["--xla_gpu_enable_command_buffer="]


def median(steps, first, last):
  return statistics.median(steps[first:last])


def figures_of(jobs):
  """kind -> [median us of each run], and what the edges of the window cost."""
  found = {"bare": [], "jax.profiler": [], "outside": [], "inside": [], "after": [], "edges": []}
  tails = {"bare": [], "outside": []}
  for job in jobs:
    result = job.result()
    if job.status or not result:
      continue
    steps = result["step_us"]
    is_bare = "bare" in job.name
    found["bare" if is_bare else "outside"].append(median(steps, WARM, FIRST - EDGE))
    found["jax.profiler" if is_bare else "inside"].append(
        median(steps, FIRST + EDGE, LAST - EDGE))
    tails["bare" if is_bare else "outside"].append(job.end_time - result["end_time"])
    if not is_bare:
      after = steps[LAST + EDGE :]
      found["after"].append(statistics.median(after))
      around = steps[FIRST - EDGE : FIRST + EDGE] + steps[LAST - EDGE : LAST + EDGE]
      found["edges"].append(max(around))
  return found, tails


def ratio_row(bench, name, value, base, limit):
  if not value or not base:
    bench.row(name, False, "no run to compare")
    return
  off = statistics.median(value) / statistics.median(base) - 1
  runs = ", ".join(f"{v / 1000:.3f}" for v in value)
  bases = ", ".join(f"{v / 1000:.3f}" for v in base)
  bench.row(name, None if limit is None else off <= limit,
            f"{100 * off:+.2f} % (ms a step: {runs}; against {bases})")


def run(bench):
  bench.pin([("unrolled", None, 1)])
  for label, flags in (("graphs off", NO_GRAPHS), ("graphs on", [])):
    if bench.left() < 60:
      bench.row(label, False, "not run: out of time")
      continue
    key = label.replace(" ", "_")
    jobs = []
    for i in range(ROUNDS):
      traces = [(FIRST, LAST, bench.folder(key, f"bare{i}") / "trace")]
      if i == 0:  # once with the options that a user gets, for its size
        traces.append((LAST + 30, STEPS - 10, str(bench.folder(key, "bare0") / "trace_default+")))
      jobs.append(bench.train_job(f"{key}/bare{i}", "unrolled", steps=STEPS, flags=flags,
                                  trace=traces))
      jobs.append(bench.train_job(f"{key}/pgle{i}", "unrolled", steps=STEPS, flags=flags,
                                  capture=["--steps", f"{FIRST}:{LAST}"]))
    run_in_turn(jobs, bench.left)
    for job in jobs:
      if job.status:
        bench.failed(job)
    found, tails = figures_of(jobs)
    ratio_row(bench, f"{label}: outside the window, at most 1 %", found["outside"], found["bare"],
              0.01)
    ratio_row(bench, f"{label}: after the window, at most 1 %", found["after"], found["bare"], 0.01)
    ratio_row(bench, f"{label}: inside, at most 5 %", found["inside"], found["bare"], 0.05)
    ratio_row(bench, f"{label}: inside, not worse than jax.profiler", found["inside"],
              found["jax.profiler"], 0.0)
    ratio_row(bench, f"{label}: jax.profiler", found["jax.profiler"], found["bare"], None)
    ratio_row(bench, f"{label}: slowest step at the window's edges", found["edges"], found["bare"],
              None)
    if tails["bare"] and tails["outside"]:
      bench.row(f"{label}: from the last step to the end", None,
                f"{statistics.median(tails['outside']):.2f} s, bare "
                f"{statistics.median(tails['bare']):.2f} s")
    remember(bench, label, jobs, found["bare"])


def remember(bench, label, jobs, found_bare):
  """For the part `files`: runs of as many steps under both recorders."""
  traced = [p for j in jobs if "bare" in j.name
            for p in captured.theirs(j.folder / "trace") if p]
  default = [p for p in captured.theirs(jobs[0].folder / "trace_default") if p]
  own = [p for j in jobs if "pgle" in j.name for p in captured.ours(j) if p]
  if own and found_bare:
    bench.row(f"{label}: the step", None,
              f"{statistics.median(found_bare) / 1000:.3f} ms, "
              f"{xspace.count_events(own[0]) / (LAST - FIRST):.0f} kernels, copies and memsets")
  bench.sizes[label] = {
      "steps": LAST - FIRST,
      "jax.profiler": traced[0] if traced else None,
      "jax.profiler, default options": default[0] if default else None,
      "ours": own[0] if own else None,
  }
