"""Part `attribution`: the same kernels, ops and times as jax.profiler's, and names in graphs.

Each program runs under jax.profiler twice (what differs between the two is noise) and once under
pgle-capture, without command buffers and with them.
"""

import os

import captured
import compare_traces
from jobs import read_json, run_in_turn

STEPS = int(os.environ.get("TRACE_STEPS", 30))
FIRST = 12
# (program, processes): those of a group compile side by side.
GROUPS = [[("unrolled", 1), ("scanned", 1)], [("tensor_parallel", 1), ("unrolled", 2)]]
NO_GRAPHS = ["--xla_gpu_enable_command_buffer="]


def percent(x):
  return f"{100 * x:.2f} %"


def compared(bench, name, a, b, **options):
  """compare()'s answer, or None after a row that tells why there is none."""
  if None in a or None in b:
    side = "jax.profiler" if None in a else "pgle-capture"
    bench.row(name, False, f"no trace from {side}")
    return None
  try:
    return compare_traces.compare(a, b, STEPS, **options)
  except (ValueError, OSError, IndexError) as e:
    bench.row(name, False, str(e))
    return None


def same_kernels(bench, name, c):
  differences = c["differences"]
  figures = f"{c['kernels_a_step'][0]:g} and {c['kernels_a_step'][1]:g} a step, {c['kinds']} kinds"
  if differences:
    device, key, left, right = differences[0]
    figures += f"; {len(differences)} differ: {device} {key}: {left:g} and {right:g}"
    figures += f"; by op alone: {len(c['differences_by_op'])}"
  bench.row(f"{name} same kernels", not differences, figures)


def same_times(bench, name, c, noise):
  """noise: the same comparison of two runs under jax.profiler, or None."""
  for group, ours in c["times"].items():
    if not ours["ops"]:
      continue
    null = noise["times"][group] if noise else None
    # What two runs of jax.profiler differ by is not the recorder's doing.
    allowed = max(0.01, 1.5 * null["time_share_beyond"]) if null else 0.01
    total_allowed = max(0.02, 1.5 * abs(null["total_off"])) if null else 0.02
    good = ours["time_share_beyond"] <= allowed and abs(ours["total_off"]) <= total_allowed
    figures = (f"{ours['ops']} ops, {ours['us_a']:.0f} and {ours['us_b']:.0f} us a step "
               f"({100 * ours['total_off']:+.2f} %); within 2 %: {ours['within_2_percent']}, "
               f"within noise: {ours['agree']}, beyond: "
               f"{percent(ours['time_share_beyond'])} of time")
    if null:
      figures += (f"; jax.profiler twice: {100 * null['total_off']:+.2f} %, "
                  f"{null['within_2_percent']}, {null['agree']}, "
                  f"{percent(null['time_share_beyond'])}")
    if not good and ours["worst"]:
      figures += f"; worst {ours['worst'][0]}"
    bench.row(f"{name} times of {group} ops", good, figures)


def report(bench, label, processes, jobs):
  a_off, a2_off, b_off, a_on, b_on = jobs
  trace = {j.name: captured.theirs(j.folder / "trace", processes) for j in (a_off, a2_off, a_on)}
  off = compared(bench, f"{label} graphs off", trace[a_off.name], captured.ours(b_off))
  noise = None
  if None not in trace[a_off.name] + trace[a2_off.name]:
    noise = compared(bench, f"{label} noise", trace[a_off.name], trace[a2_off.name])
  if off:
    bench.row(f"{label} same program", off["same_program"], f"fingerprints {off['fingerprints']}")
    same_kernels(bench, f"{label} graphs off", off)
    same_times(bench, f"{label} graphs off", off, noise)
    shares(bench, f"{label} graphs off", off)
  on = compared(bench, f"{label} graphs on", trace[a_on.name], captured.ours(b_on), by_kernel=True)
  if on:
    same_kernels(bench, f"{label} graphs on", on)
    same_times(bench, f"{label} graphs on, by kernel:", on, noise)
    shares(bench, f"{label} graphs on", on)
    if off:
      wanted, named = set(off["a"]["ops"]), set(on["b"]["ops"])
      missing = sorted(wanted - named)
      graphs = [p["records"]["in_command_buffers"]
                for i in range(processes)
                for p in (read_json(b_on.folder / f"capture{i}.json") or {}).get("processes", [])]
      bench.row(f"{label} every op named in graphs", not missing and min(graphs, default=0) > 0,
                f"{len(wanted & named)} of {len(wanted)}, jax.profiler "
                f"{len(wanted & set(on['a']['ops']))}; missing: {' '.join(missing[:8]) or 'none'}; "
                f"{sum(graphs)} of {on['b']['events']} records from graphs")
  for c in (off, on):
    if c and c["warnings"][1]:
      bench.row(f"{label} warnings in the run", None, "; ".join(c["warnings"][1])[:300])


def shares(bench, name, c):
  a, b = c["a"], c["b"]
  good = b["by_time"] >= a["by_time"] - 1e-4 and b["by_count"] >= a["by_count"] - 1e-4
  bench.row(f"{name} attributed share", good,
            f"{percent(b['by_time'])} of time, {percent(b['by_count'])} of records; "
            f"jax.profiler {percent(a['by_time'])}, {percent(a['by_count'])}")


def coverage(bench, label, job):
  """pgle-extract on the run with command buffers on."""
  answer = bench.extract(job, "profile.pb")
  if answer:
    bench.row(f"{label} pgle-extract coverage, graphs on",
              answer["coverage_by_count"] >= 0.999,
              f"{percent(answer['coverage_by_count'])} by count, "
              f"{percent(answer['coverage_by_device_time'])} by time, "
              f"{answer['profile']['costs']} costs")


def jobs_of(bench, program, processes):
  label = f"{program}{processes if processes > 1 else ''}"
  last = FIRST + STEPS

  def job(kind, flags, captures):
    options = dict(flags=flags, steps=last + 6, processes=processes)
    if captures:
      # One name for the run of all processes.
      options["capture"] = ["--steps", f"{FIRST}:{last}", "--run", "check"]
    else:
      options["trace"] = [(FIRST, last, bench.folder(label, kind) / "trace")]
    return bench.train_job(f"{label}/{kind}", program, **options)

  return label, [
      job("jax_off", NO_GRAPHS, False),
      job("jax2_off", NO_GRAPHS, False),
      job("pgle_off", NO_GRAPHS, True),
      job("jax_on", [], False),
      job("pgle_on", [], True),
  ]


def run(bench):
  bench.pin([(program, None, processes) for group in GROUPS for program, processes in group])
  for group in GROUPS:
    if bench.left() < 60:
      bench.row(" and ".join(program for program, _ in group), False, "not run: out of time")
      continue
    programs = [(processes, *jobs_of(bench, program, processes)) for program, processes in group]
    run_in_turn([job for _, _, jobs in programs for job in jobs], bench.left)
    for processes, label, jobs in programs:
      for job in jobs:
        if job.status:
          bench.failed(job)
      report(bench, label, processes, jobs)
      if not jobs[4].status:
        coverage(bench, label, jobs[4])
      bench.keep(jobs[4], f"attribution.{label}.on")
      bench.keep(jobs[2], f"attribution.{label}.off")
