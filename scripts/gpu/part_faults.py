"""Part `faults`: programs that go wrong, that are killed, or that are no programs for the recorder.

A tiny program runs for all of them, side by side: nothing is measured but `--times`.
"""

import os
import signal
import statistics
import time

import captured
import xspace
from jobs import Job, read_json, run_in_turn

OPEN_ENDED = "20:1000000"


class Case:
  """A job, what is to be done to it while it runs, and how its end is judged."""

  def __init__(self, job, judge, kills=()):
    """kills: [(step, "launcher" or "program", signal)]"""
    self.job, self.judge, self.kills = job, judge, list(kills)

  def progress(self):
    return read_json(self.job.folder / "progress.json")


def tiny(bench, label, capture, steps=60, options=(), **more):
  folder = bench.folder(*label.split("/"))
  return bench.train_job(label, "tiny", steps=steps, capture=capture, turn=False,
                         options=["--progress", folder / "progress.json", *options], **more)


def command(bench, label, argv, options=("--steps", "2:4"), env=None):
  folder = bench.folder(label)
  return Job(label, [bench.captured(argv, folder, options)], bench.environment(**(env or {})),
             folder)


def said(job, limit=200):
  lines = [l for l in job.text().splitlines() if l.startswith("pgle-capture")]
  return " | ".join(lines)[:limit] or "nothing"


def status_is(wanted, program_ran=None, text=None):
  """program_ran: whether train.py must have come to its end; text: what must be said."""

  def judge(bench, case):
    job = case.job
    good = job.status == wanted
    if program_ran is not None:
      good &= (job.result() is not None) == program_ran
    if text is not None:
      good &= text in job.text()
    ran = "program ran to its end" if job.result() else "program did not end by itself"
    bench.row(job.name, good, f"status {job.status}, wanted {wanted}; {ran}; {said(job)}")

  return judge


def keeps_all_but_a_second(statuses):
  """The run exists although the program was stopped, and lacks at most the last second."""

  def judge(bench, case):
    job, progress = case.job, case.progress()
    found = xspace.find_traces(job.folder / "logs")
    if not found or not progress:
      bench.row(job.name, False, f"status {job.status}; no run left; {said(job)}")
      return
    trace = xspace.read_trace(found[-1], with_hlo=False)
    events = [e for es in trace.devices.values() for e in es]
    last = max((e.start + e.duration for e in events), default=0) / 1e12
    first = min((e.start for e in events), default=0) / 1e12
    lost = progress["time"] - last
    named = sum(1 for e in events if e.op)
    good = job.status in statuses and bool(events) and lost <= 1.2
    bench.row(job.name, good,
              f"status {job.status}; {len(events)} records over {last - first:.2f} s, {named} with "
              f"an op, {lost:.2f} s before the last step lost; {said(job)}")

  return judge


def own_profiler(bench, case):
  job, result = case.job, case.job.result()
  theirs = [p for p in captured.theirs(job.folder / "trace") if p]
  seen = "no trace"
  if theirs:
    trace = xspace.read_trace(theirs[-1], with_hlo=False)
    events = [e for es in trace.devices.values() for e in es]
    seen = f"{len(events)} device events, {sum(1 for e in events if e.op)} with an op"
  ours = captured.ours(job)[0]
  count = xspace.count_events(ours) if ours else 0
  bench.row(job.name, job.status == 0 and result is not None and count > 0,
            f"status {job.status}; jax.profiler's trace: {seen}, errors "
            f"{result['profiler_faults'] if result else '?'}; ours: {count} device events")


def keeps_window(bench, case):
  job = case.job
  found = xspace.find_traces(job.folder / "logs")
  count = xspace.count_events(found[-1]) if found else 0
  bench.row(job.name, job.status == 0 and count > 0,
            f"status {job.status}; {count} records; {said(job)}")


def cases(bench):
  late = ["--sleep-ms", 5]
  trace = bench.folder("own jax.profiler") / "trace"
  return [
      Case(command(bench, "JAX_ENABLE_PGLE is refused", [bench.python, "-c", "print('started')"],
                   env={"JAX_ENABLE_PGLE": "true"}),
           status_is(125, text="JAX_ENABLE_PGLE")),
      Case(command(bench, "no GPU use", [bench.python, "-c", "print('started')"]),
           status_is(125, text="started")),
      Case(command(bench, "status of the command", ["sh", "-c", "exit 7"]), status_is(7)),
      Case(command(bench, "command not found", ["/nonexistent/program"]), status_is(127)),
      Case(command(bench, "inside another pgle-capture",
                   bench.captured(["true"], bench.folder("inner"), ["--steps", "2:4"])),
           status_is(125, text="INJECTION64_PATH")),
      Case(tiny(bench, "window never reached", ["--steps", "1000:1004"]),
           status_is(125, program_ran=True)),
      Case(tiny(bench, "window never reached, best effort",
                ["--best-effort", "--steps", "1000:1004"]),
           status_is(0, program_ran=True)),
      Case(tiny(bench, "auto", ["--steps", "auto:5"], steps=2000, options=["--sleep-ms", 2]),
           keeps_window),
      Case(tiny(bench, "JAX_ENABLE_PGLE is turned off", ["--disable-auto-pgle", "--steps", "10:20"],
                env={"JAX_ENABLE_PGLE": "true"}), keeps_window),
      Case(tiny(bench, "delay and duration", ["--delay", 7, "--duration", 1], 2500, late),
           keeps_window),
      Case(tiny(bench, "from signal to signal", ["--on-signal", "USR2"], 600, late), keeps_window,
           [(200, "launcher", signal.SIGUSR2), (350, "launcher", signal.SIGUSR2)]),
      Case(tiny(bench, "profiler API", ["--profiler-api"], 600,
                [*late, "--profiler-api", "200:300"]), keeps_window),
      Case(tiny(bench, "own jax.profiler", ["--steps", "10:20"], steps=60,
                trace=[(30, 40, trace)]), own_profiler),
      Case(tiny(bench, "own jax.profiler in the window", ["--steps", "10:40"], steps=60,
                trace=[(20, 30, bench.folder("own jax.profiler in the window") / "trace")]),
           own_profiler),
      Case(tiny(bench, "SIGTERM to the launcher", ["--steps", OPEN_ENDED], 10**6, late),
           keeps_all_but_a_second([143]), [(500, "launcher", signal.SIGTERM)]),
      Case(tiny(bench, "SIGKILL to the program", ["--steps", OPEN_ENDED], 10**6, late),
           keeps_all_but_a_second([137]), [(500, "program", signal.SIGKILL)]),
      Case(tiny(bench, "os._exit in the window", ["--steps", OPEN_ENDED], 10**6,
                [*late, "--exit-at", 500]), keeps_all_but_a_second([0, 125])),
      Case(tiny(bench, "os._exit after the window", ["--steps", "20:40"], 10**6,
                [*late, "--exit-at", 300]), keeps_window),
  ]


def kill_when_due(cases_, left):
  """Sends each case's signals at their steps."""
  waiting = [c for c in cases_ if c.kills]
  end = time.monotonic() + min(90, left() - 20)
  while waiting and time.monotonic() < end:
    for case in waiting:
      progress = case.progress()
      step, target, number = case.kills[0]
      if case.job.has_ended():
        case.kills.clear()
      elif progress and progress["step"] >= step:
        pid = case.job.processes[0].pid if target == "launcher" else progress["pid"]
        os.kill(pid, number)
        case.kills.pop(0)
    waiting = [c for c in waiting if c.kills]
    time.sleep(0.02)


def outside_us(report):
  """The median time of a training step in pgle-capture's report, or None."""
  for process in report["processes"]:
    for module in process.get("modules", []):
      if module["module"] == "jit_train_step" and module["step_time_outside"]:
        return module["step_time_outside"]["median_us"]
  return None


def times(bench):
  """Step times from outside against those that the program measures."""
  jobs = [bench.train_job(name, "unrolled", steps=300, flags=flags, capture=["--times"])
          for name, flags in (("times graphs off", ["--xla_gpu_enable_command_buffer="]),
                              ("times graphs on", []))]
  run_in_turn(jobs, bench.left)
  for job in jobs:
    report, result = read_json(job.folder / "capture0.json"), job.result()
    if job.status or not report or not result:
      bench.failed(job)
      continue
    inside, seen = statistics.median(result["step_us"]), outside_us(report)
    if seen is None:
      bench.row(job.name, False, "the report tells no step time")
      continue
    off = seen / inside - 1
    bench.row(f"{job.name}: median within 1 %", abs(off) <= 0.01,
              f"{seen:.1f} us, measured inside {inside:.1f} us: {100 * off:+.2f} %")


def run(bench):
  bench.pin([("unrolled", None, 1), ("tiny", None, 1)])
  all_cases = cases(bench)
  for case in all_cases:
    case.job.start()
  kill_when_due(all_cases, bench.left)
  end = time.monotonic() + 60
  for case in all_cases:
    case.job.wait(min(bench.left() - 10, end - time.monotonic()))
    try:
      case.judge(bench, case)
    except (OSError, ValueError) as e:
      bench.row(case.job.name, False, str(e))
  times(bench)
