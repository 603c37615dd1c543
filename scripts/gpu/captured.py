"""Finds the files that pgle-capture and jax.profiler left for the processes of a job."""

import xspace


def ours(job):
  """The trace of each process of a captured job, in the order of the processes; None: missing.

  The file's name ends in the process id, which train.py tells.
  """
  found = xspace.find_traces(job.folder / "logs")
  traces = []
  for i in range(len(job.argvs)):
    result = job.result(i)
    own = [p for p in found if result and f"_p{result['pid']}.xplane" in p.name]
    traces.append(own[-1] if own else (found[-1] if len(found) == len(job.argvs) == 1 else None))
  return traces


def theirs(folder, processes=1):
  """What jax.profiler wrote to FOLDER.<process>."""
  traces = []
  for i in range(processes):
    found = xspace.find_traces(f"{folder}.{i}")
    traces.append(found[-1] if found else None)
  return traces


def size(path):
  return path.stat().st_size
