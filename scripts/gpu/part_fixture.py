"""Part `fixture`: a small run with command buffers on, to keep: ours, jax.profiler's and the HLO."""

import shutil

import captured
from jobs import run_in_turn

FIRST, LAST = 8, 11


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
                         capture=["--steps", f"{FIRST}:{LAST}"], env={"PGLE_KEEP_SPILL": 1})
  run_in_turn([theirs, plain, ours], bench.left)
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
  # All that pgle-capture left: the run, its report, the HLO dump and the spill file if it is kept.
  logs = ours.folder / "logs"
  for path in sorted(p for p in logs.rglob("*") if p.is_file()):
    keep(path, f"pgle/{path.relative_to(logs)}")
  for path in (ours.folder / "capture0.json", ours.log()):
    if path.exists():
      keep(path, f"pgle/{path.name}")
  bench.row("recorded", any(n.startswith("pgle/plugins") for n in kept) and len(kept) > 3,
            f"{len(kept)} files, {sum(int(k.split()[-1]) for k in kept)} bytes")
