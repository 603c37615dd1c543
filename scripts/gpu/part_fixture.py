"""Part `fixture`: a small run with command buffers on, to commit.

Kept are our run, the spill file that it was made of, the HLO, and jax.profiler's traces of the same
program with command buffers and without.
"""

import os
import shutil
import threading

import captured
from jobs import run_in_turn

FIRST, LAST = 8, 11


def link_spills(logs, to, done):
  """Links the files that recorders write: pgle-capture removes them once the run is written."""
  to.mkdir(parents=True, exist_ok=True)
  while not done.wait(0.02):
    for path in logs.glob(".pgle-capture/*/*/*.pgle"):
      if path.is_file() and not (to / path.name).exists():
        try:
          os.link(path, to / path.name)
        except OSError:  # gone already
          pass


def run(bench):
  bench.pin([("unrolled", "small", 1)])
  dump = bench.folder("dump")
  dumped = [f"--xla_dump_to={dump}", "--xla_dump_hlo_as_proto",
            "--xla_dump_hlo_module_re=jit_train_step"]
  theirs = bench.train_job("jax", "unrolled", "small", steps=LAST + 3, flags=dumped,
                           trace=[(FIRST, LAST, bench.folder("jax") / "trace")])
  plain = bench.train_job("jax_off", "unrolled", "small", steps=LAST + 3,
                          flags=["--xla_gpu_enable_command_buffer="],
                          trace=[(FIRST, LAST, bench.folder("jax_off") / "trace")])
  ours = bench.train_job("pgle", "unrolled", "small", steps=LAST + 3,
                         capture=["--steps", f"{FIRST}:{LAST}"])
  logs = ours.folder / "logs"
  done = threading.Event()
  linker = threading.Thread(target=link_spills, args=(logs, ours.folder / "spill", done))
  linker.start()
  run_in_turn([theirs, plain, ours], bench.left)
  done.set()
  linker.join()
  kept = []

  def keep(path, name):
    to = bench.fixture / name
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, to)
    kept.append(f"{name} {path.stat().st_size}")

  for job in (theirs, plain, ours):
    if job.status:
      bench.failed(job)
  for job in (theirs, plain):
    for path in captured.theirs(job.folder / "trace"):
      if path:
        keep(path, f"{job.name}/{path.name}")
  for path in sorted(dump.rglob("*jit_train_step*after_optimizations.hlo.pb")):
    keep(path, f"hlo/{path.name}")
  for top, name in ((logs, "pgle"), (ours.folder / "spill", "spill")):
    for path in sorted(p for p in top.rglob("*") if p.is_file()):
      keep(path, f"{name}/{path.relative_to(top)}")
  for path in (ours.folder / "capture0.json", ours.log()):
    if path.exists():
      keep(path, f"pgle/{path.name}")
  bench.row("recorded", any(n.startswith("pgle/plugins") for n in kept) and len(kept) > 3,
            f"{len(kept)} files, {sum(int(k.split()[-1]) for k in kept)} bytes")
