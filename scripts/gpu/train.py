"""Trains a program of these folders for some steps and measures each step from inside.

  train.py PROGRAM [options]      PROGRAM: unrolled, scanned, tiny, or one of programs.py

The first step (number 0) compiles. A file (--result) tells the time of every step in microseconds,
measured from the call to its result on the host. With --trace FIRST:LAST:DIR jax.profiler records
the steps [FIRST, LAST); with a `+` behind DIR it records with its default options, Python's frames
included. With --turn FILE the program writes FILE.ready<process> after the first step and goes on
once FILE.go exists: programs compile side by side and are measured one after the other.
"""

import argparse
import ctypes
import json
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import programs
import transformer


def parse():
  p = argparse.ArgumentParser(usage=__doc__)
  p.add_argument("program")
  p.add_argument("--layers", type=int, default=4)
  p.add_argument("--width", type=int, default=2048)
  p.add_argument("--heads", type=int, default=16)
  p.add_argument("--length", type=int, default=1024, help="tokens of a sequence")
  p.add_argument("--small", action="store_true", help="small sizes for programs of programs.py")
  p.add_argument("--steps", type=int, default=10)
  p.add_argument("--sleep-ms", type=float, default=0, help="after every step")
  p.add_argument("--trace", action="append", default=[], metavar="FIRST:LAST:DIR[+]")
  p.add_argument("--profiler-api", metavar="FIRST:LAST", help="cudaProfilerStart and Stop there")
  p.add_argument("--exit-at", type=int, help="os._exit(0) after this step")
  p.add_argument("--result", help="JSON file to write at the end")
  p.add_argument("--progress", help="JSON file to keep up to date")
  p.add_argument("--turn", help="wait for FILE.go after the first step")
  p.add_argument("--process", type=int, default=0)
  p.add_argument("--processes", type=int, default=1)
  p.add_argument("--port", type=int, default=9911)
  return p.parse_args()


def write_json(path, value):
  """Whole or not at all: another process looks at it meanwhile."""
  part = f"{path}.part"
  with open(part, "w") as f:
    json.dump(value, f)
  os.replace(part, path)


def tiny():
  """A few kernels on one device."""
  w = jnp.ones((256, 256), jnp.bfloat16) / 256

  @jax.jit
  def train_step(x):
    for _ in range(4):
      x = jnp.tanh(x @ w)
    return x, jnp.sum(x.astype(jnp.float32))

  return train_step, jnp.ones((256, 256), jnp.bfloat16)


def on_cpu():
  return os.environ.get("JAX_PLATFORMS") == "cpu"


def build(args):
  if args.program == "tiny":
    return tiny()
  devices = jax.devices()
  if len(devices) < 2:
    sys.exit(f"two devices are needed, {len(devices)} found")
  mesh = Mesh(np.array(devices[:2]), ("x",))
  if args.program in ("unrolled", "scanned"):
    return transformer.transformer(mesh, args.layers, args.width, args.heads, args.length,
                                   args.program == "scanned")
  return programs.PROGRAMS[args.program](mesh, not args.small)


def wait_for_turn(path, process):
  write_json(f"{path}.ready{process}", {"pid": os.getpid()})
  end = time.monotonic() + 400
  while not os.path.exists(f"{path}.go"):
    if time.monotonic() > end:
      sys.exit("its turn did not come")
    time.sleep(0.01)


def start_trace(folder):
  if folder.endswith("+"):
    jax.profiler.start_trace(folder[:-1])
  else:
    programs.start_trace(folder)


def profiler_api(args, step):
  """As a program with a range for nsys would."""
  if args.profiler_api:
    call = dict(zip(args.profiler_api.split(":"), ("cuProfilerStart", "cuProfilerStop")))
    if str(step) in call:
      getattr(ctypes.CDLL("libcuda.so.1"), call[str(step)])()


def main():
  args = parse()
  begin = time.time()
  if args.processes > 1:
    jax.distributed.initialize(f"localhost:{args.port}", args.processes, args.process,
                               local_device_ids=None if on_cpu() else [args.process])
  step, state = build(args)
  traces = [t.split(":", 2) for t in args.trace]
  starts = {int(first): folder for first, _, folder in traces}
  stops = {int(last) for _, last, _ in traces}
  times, faults = [], []
  for i in range(args.steps):
    if i in stops:
      try:
        jax.profiler.stop_trace()
      except Exception as e:  # what a program sees whose profiler fails is part of the answer
        faults.append(f"stop_trace: {e}"[:500])
    if i in starts:
      try:
        start_trace(starts[i])
      except Exception as e:
        faults.append(f"start_trace: {e}"[:500])
    profiler_api(args, i)
    at = time.perf_counter()
    state, loss = step(state)
    jax.block_until_ready((state, loss))
    end = time.perf_counter()
    times.append((end - at) * 1e6)
    if args.progress and i % 10 == 0:
      write_json(args.progress, {"step": i, "time": time.time(), "pid": os.getpid()})
    if i == args.exit_at:
      write_json(args.progress, {"step": i, "time": time.time(), "pid": os.getpid()})
      os._exit(0)
    if i == 0:
      ready = time.time() - begin
      if args.turn:
        wait_for_turn(args.turn, args.process)
    if args.sleep_ms:
      time.sleep(args.sleep_ms / 1000)
  if args.steps in stops:
    jax.profiler.stop_trace()
  result = {
      "program": args.program,
      "pid": os.getpid(),
      "steps": args.steps,
      "step_us": [round(t, 1) for t in times],
      "ready_s": round(ready, 1),
      "end_time": time.time(),
      "profiler_faults": faults,
      "loss": float(loss),
      "jax": jax.__version__,
  }
  if args.result:
    write_json(args.result, result)
  print(f"RESULT {args.program}: {args.steps} steps, loss {float(loss):.4f}")


if __name__ == "__main__":
  main()
