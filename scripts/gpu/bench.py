"""What the parts of gpu-check share: folders, flags, programs under a recorder, rows of results."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import captured
from jobs import Job, read_json, run_together

HERE = Path(__file__).resolve().parent

# The step that overheads are measured with: about 1,000 launches (both devices) in about 7 ms.
SIZES = {
    "unrolled": "--layers 8 --width 1792 --heads 14 --length 512",
    "scanned": "--layers 8 --width 1792 --heads 14 --length 512",
    "small": "--layers 2 --width 512 --heads 4 --length 256",
}
DRY_SIZE = "--layers 2 --width 64 --heads 4 --length 32 --small"


class Bench:

  def __init__(self, bin_dir, out, deadline, dry):
    self.bin = Path(bin_dir).resolve()
    self.out = Path(out).resolve()
    self.python = os.environ.get("PYTHON", "python3")
    self.dry = dry
    self.begin = time.monotonic()
    self.deadline = deadline
    self.rows = []
    self.part = ""
    # Programs run from copies, so that no HLO and no trace names a path of the checkout.
    self.work = Path(os.environ.get("WORK", f"/tmp/gpu-check.{os.getpid()}"))
    self.work.mkdir(parents=True, exist_ok=True)
    for name in ("train.py", "transformer.py", "programs.py"):
      shutil.copy(HERE / name, self.work / name)
    self.out.mkdir(parents=True, exist_ok=True)
    self.port = 9911
    self.sizes = {}  # what the part `overhead` leaves for the part `files`
    self.kept = []  # (file, name in the archive), the most telling first
    self.fixture = self.work / "to_commit"

  # Time.

  def left(self):
    return self.deadline - (time.monotonic() - self.begin)

  # Rows of the table.

  def row(self, name, passed, figures):
    """passed: True, False, or None for a figure that nothing is demanded of."""
    state = {True: "PASS", False: "FAIL", None: "info"}[passed if passed is None else bool(passed)]
    self.rows.append({"part": self.part, "state": state, "name": name, "figures": figures})
    line = f"{state} {self.part:<12} {name:<44} {figures}"
    print(line, flush=True)
    with open(self.out / "summary.txt", "a") as f:
      f.write(line + "\n")

  def failed(self, job):
    """A row with the end of the log, where a job did not do what everything else rests on."""
    chatter = re.compile(r"^[IW]\d{4} ")
    logs = [job.text(i) for i in range(len(job.argvs))]
    lines = [l for text in logs for l in text.splitlines() if l.strip() and not chatter.match(l)]
    tail = " | ".join(l.strip()[:160] for l in lines[-3:])
    self.row(job.name, False, f"{job.note or f'status {job.status}'}: {tail or 'no output'}")

  # Commands.

  def tool(self, name):
    return self.bin / name

  def folder(self, *parts):
    path = self.work.joinpath(self.part, *parts)
    path.mkdir(parents=True, exist_ok=True)
    return path

  def xla_flags(self, flags, processes=1):
    if self.dry:  # a compiler for the CPU stops at flags that are the GPU's
      return "" if processes > 1 else "--xla_force_host_platform_device_count=2"
    return " ".join(flags)

  def environment(self, **more):
    env = {k: v for k, v in os.environ.items() if k not in ("JAX_ENABLE_PGLE", "XLA_FLAGS")}
    if self.dry:
      env["JAX_PLATFORMS"] = "cpu"
    env.update(
        NCCL_NVLS_ENABLE="0",
        PYTHONDONTWRITEBYTECODE="1",
        # Several programs wait on the devices at once.
        XLA_PYTHON_CLIENT_MEM_FRACTION="0.08",
    )
    env.update({k: str(v) for k, v in more.items()})
    return env

  def program(self, name, size=None):
    """argv of train.py without what a single run adds."""
    sizes = DRY_SIZE if self.dry else SIZES.get(size or name, "")
    return [self.python, self.work / "train.py", name, *sizes.split()]

  def autotune_file(self, name, size=None, process=0):
    return self.work / f"autotune.{name}.{size or name}.{process}.pbtxt"

  def pinned(self, name, size=None, processes=1, process=0):
    """Flags under which every run chooses the same kernels."""
    kind = f"{name}{processes if processes > 1 else ''}"
    path = self.autotune_file(kind, size, process)
    return [f"--xla_gpu_load_autotune_results_from={path}"] if path.exists() else []

  def pin(self, wanted):
    """Compiles once each of [(program, size, processes)] that no part has pinned before."""
    jobs = []
    for name, size, processes in wanted:
      kind = f"{name}{processes if processes > 1 else ''}"
      if self.autotune_file(kind, size).exists():
        continue
      jobs.append(self.train_job(f"autotune/{kind}", name, size, steps=2, processes=processes,
                                 dump_autotune=True, turn=False))
    run_together(jobs, self.left)
    for job in jobs:
      if job.status:
        self.failed(job)

  def train_job(self, label, name, size=None, steps=10, processes=1, flags=(), capture=None,
                trace=(), turn=True, dump_autotune=False, pinned=True, options=(), env=None):
    """A run of train.py. capture: options of pgle-capture (a log directory is added).

    trace: [(first, last, folder)] for jax.profiler, which writes to folder.<process>; a `+` behind
    the folder stands for its default options.
    """
    folder = self.folder(*label.split("/"))
    kind = f"{name}{processes if processes > 1 else ''}"
    self.port += 1
    argvs = []
    for i in range(processes):
      own = list(flags)
      if dump_autotune:
        own.append(f"--xla_gpu_dump_autotune_results_to={self.autotune_file(kind, size, i)}")
      elif pinned:
        own += self.pinned(name, size, processes, i)
      argv = self.program(name, size)
      argv += ["--steps", steps, "--result", folder / f"result{i}.json", *options]
      for first, last, to in trace:
        to = str(to)
        argv += ["--trace", f"{first}:{last}:{to.rstrip('+')}.{i}{'+' if to[-1] == '+' else ''}"]
      if turn:
        argv += ["--turn", folder / "turn"]
      if processes > 1:
        argv += ["--process", i, "--processes", processes, "--port", self.port]
      if capture is not None:
        argv = self.captured(argv, folder, capture, i)
      variables = [f"XLA_FLAGS={self.xla_flags(own, processes)}"]
      if processes > 1:  # as a launcher of jobs tells its ranks
        variables += [f"JAX_PROCESS_ID={i}", f"JAX_NUM_PROCESSES={processes}"]
      argvs.append(["env", *variables, *argv])
    return Job(label, argvs, self.environment(**(env or {})), folder, turn=turn)

  def captured(self, argv, folder, options, process=0):
    where = [] if "--times" in options else ["-o", folder / "logs"]
    return [self.tool("pgle-capture"), *where, "--json", folder / "capture%r.json",
            *options, "--", *argv]

  def extract(self, job, name):
    """Runs pgle-extract on a captured job; its report, or None after a row."""
    profile = job.folder / name
    report = job.folder / f"{name}.json"
    done = subprocess.run(
        [str(self.tool("pgle-extract")), str(job.folder / "logs"), "-o", str(profile), "--json",
         str(report)], capture_output=True, text=True, timeout=120)
    (job.folder / f"{name}.log").write_text(done.stderr)
    if done.returncode:
      self.row(f"{job.name} pgle-extract", False,
               f"status {done.returncode}: {' '.join(done.stderr.split())[:300]}")
      return None
    return read_json(report)

  # What is kept.

  def keep(self, job, name):
    """The traces of a captured job go into the archive, as far as there is room."""
    for i, path in enumerate(captured.ours(job)):
      if path:
        self.kept.append((path, f"traces/{name}.{i}{''.join(path.suffixes[-3:])}"))
