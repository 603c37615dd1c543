"""Part `files`: sizes of the runs, and how long closing a window and writing the run take."""

import captured
import xspace
from jobs import read_json, run_in_turn

STEPS, FIRST = 60, 20
LARGE = 500
NO_GRAPHS = ["--xla_gpu_enable_command_buffer="]


def megabytes(size):
  return f"{size / 1e6:.2f} MB"


def sizes_row(bench, name, ours, theirs, share, note):
  if not ours or not theirs:
    bench.row(name, False, "a run is missing")
    return
  a, b = captured.size(ours), captured.size(theirs)
  bench.row(name, None if share is None else a <= b * share,
            f"{megabytes(a)} of {megabytes(b)}: 1/{b / a:.1f} {note}")


def run(bench):
  bench.pin([("unrolled", None, 1)])
  last = FIRST + STEPS
  jobs, wanted = {}, []

  def add(name, flags, **options):
    jobs[name] = bench.train_job(name, "unrolled", flags=flags, **options)

  for label, flags in (("graphs off", NO_GRAPHS), ("graphs on", [])):
    key = label.replace(" ", "_")
    if label not in bench.sizes:
      to = bench.folder(f"{key}_jax") / "trace"
      add(f"{key}_jax", flags, steps=2 * last + 20,
          trace=[(FIRST, last, to), (last + 10, last + 10 + STEPS, f"{to}_default+")])
      add(f"{key}_pgle", flags, steps=last + 10, capture=["--steps", f"{FIRST}:{last}"])
      wanted.append((label, key))
    add(f"{key}_compressed", flags, steps=last + 10,
        capture=["--compress", "--steps", f"{FIRST}:{last}"])
  add("large", NO_GRAPHS, steps=FIRST + LARGE + 40, capture=["--steps", f"{FIRST}:{FIRST + LARGE}"])
  add("large_bare", NO_GRAPHS, steps=FIRST + LARGE + 40)
  run_in_turn(list(jobs.values()), bench.left)
  for job in jobs.values():
    if job.status:
      bench.failed(job)

  for label, key in wanted:
    bench.sizes[label] = {
        "jax.profiler": captured.theirs(jobs[f"{key}_jax"].folder / "trace")[0],
        "jax.profiler, default options":
            captured.theirs(jobs[f"{key}_jax"].folder / "trace_default")[0],
        "ours": captured.ours(jobs[f"{key}_pgle"])[0],
    }
  for label, found in bench.sizes.items():
    compressed = captured.ours(jobs[f"{label.replace(' ', '_')}_compressed"])[0]
    default = found["jax.profiler, default options"]
    lean = found["jax.profiler"]
    sizes_row(bench, f"{label}: {STEPS} steps, at most a third", found["ours"], lean, 1 / 3,
              "(jax.profiler without Python's frames)")
    sizes_row(bench, f"{label}: {STEPS} steps, with those", found["ours"], default, None, "")
    sizes_row(bench, f"{label}: --compress, at most a thirtieth", compressed, lean, 1 / 30,
              "(jax.profiler without Python's frames)")
    sizes_row(bench, f"{label}: --compress, with those", compressed, default, None, "")
  large(bench, jobs["large"], jobs["large_bare"])


def large(bench, job, bare):
  """A window of hundreds of thousands of records."""
  trace = captured.ours(job)[0]
  result, plain = job.result(), bare.result()
  if not trace or not result or not plain:
    bench.row("closing a large window", False, "a run is missing")
    return
  events = xspace.count_events(trace)
  steps = result["step_us"]
  typical = sorted(steps[FIRST + LARGE + 20 :])[10]
  closing = sum(max(0, s - typical) for s in steps[FIRST + LARGE - 1 : FIRST + LARGE + 20]) / 1e6
  writing = (job.end_time - result["end_time"]) - (bare.end_time - plain["end_time"])
  total = closing + writing
  bench.row("closing and writing, at most 1 s a million records",
            events > 0 and total / max(events, 1) * 1e6 <= 1,
            f"{events} records: {closing:.2f} s in the steps after the window, {writing:.2f} s "
            f"after the program, {total / max(events, 1) * 1e6:.2f} s a million; "
            f"{megabytes(captured.size(trace))}")
  summary = read_json(job.folder / "capture0.json")
  bench.row("the report of pgle-capture", summary is not None,
            "written" if summary else "no JSON file")
