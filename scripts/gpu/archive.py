"""Packs what is worth keeping of a gpu-check: results, logs, reports, the fixture, some traces."""

import gzip
import json
import os
import tarfile

LIMIT = 14 << 20  # bytes of the archive


def wanted(bench, with_traces):
  """(file, name), the most telling first."""
  small = (".json", ".txt", ".log", ".pbtxt")
  for root, folders, files in os.walk(bench.work):
    folders.sort()
    folders[:] = [f for f in folders if not f.startswith("trace")]
    for name in sorted(files):
      path = os.path.join(root, name)
      relative = os.path.relpath(path, bench.work)
      if relative.startswith(f"{bench.fixture.name}/"):
        continue
      if name.startswith("log") or name.endswith(small) or name == "profile.pb":
        if os.path.getsize(path) < 2 << 20:
          yield path, relative
  for root, _, files in os.walk(bench.fixture):
    for name in sorted(files):
      path = os.path.join(root, name)
      yield path, os.path.join("fixture", os.path.relpath(path, bench.fixture))
  if with_traces:
    yield from bench.kept


def write(bench, with_traces=False):
  """Replaces results.json and the archive. Traces take seconds to pack: once, at the end.

  Returns the names that found no room.
  """
  (bench.out / "results.json").write_text(json.dumps(bench.rows, indent=1))
  part = bench.out / "gpu-check.tar.gz.part"
  size = 0
  left_out = []
  with tarfile.open(part, "w:gz", compresslevel=6) as tar:
    tar.add(bench.out / "summary.txt", "summary.txt")
    for path, name in wanted(bench, with_traces):
      with open(path, "rb") as f:
        packed = len(gzip.compress(f.read(), 6))
      if size + packed > LIMIT:
        left_out.append(name)
        continue
      size += packed
      tar.add(path, str(name))
  os.replace(part, bench.out / "gpu-check.tar.gz")
  return left_out
