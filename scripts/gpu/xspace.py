"""Reads device events and HLO modules of an XSpace trace. Standard library only.

Exact times and no other package: jax.profiler.ProfileData gives times as doubles and leaves out
the HLO modules. Only the device planes and `/host:metadata` are decoded. `.gz` is read too; a trace
that is compressed with zstd needs the program zstd.
"""

import functools
import gzip
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple


class Event(NamedTuple):
  start: int  # ps since the epoch, or since the profile's start where the trace does not tell
  duration: int  # ps
  kernel: str  # kernel, MemcpyD2D, Memset
  op: str  # hlo_op, empty without
  module: str  # hlo_module
  graph: int  # cuda_graph_id; 0: not of a CUDA graph
  line: str


class Instruction(NamedTuple):
  name: str
  opcode: str
  scheduling_name: str


class Module(NamedTuple):
  name: str
  fingerprint: str  # empty in modules that were not compiled for a profile
  instructions: tuple


class Trace(NamedTuple):
  devices: dict  # plane name -> [Event], by start
  modules: dict  # module name -> Module
  warnings: list
  start: int  # ns since the epoch; 0 unknown


def fields(data):
  """(number, value) of each field of a serialised message."""
  at, end = 0, len(data)
  while at < end:
    key = data[at]
    at += 1
    if key > 0x7F:
      key &= 0x7F
      shift = 7
      while True:
        byte = data[at]
        at += 1
        key |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
          break
    kind = key & 7
    if kind == 0 or kind == 2:
      value = data[at]
      at += 1
      if value > 0x7F:
        value &= 0x7F
        shift = 7
        while True:
          byte = data[at]
          at += 1
          value |= (byte & 0x7F) << shift
          shift += 7
          if byte < 0x80:
            break
      if kind == 2:
        size = value
        if size > end - at:
          raise ValueError(f"a field of {size} bytes at byte {at} of {end}")
        value = data[at : at + size]
        at += size
    elif kind == 1:
      value = data[at : at + 8]
      at += 8
    elif kind == 5:
      value = data[at : at + 4]
      at += 4
    else:
      raise ValueError(f"wire type {kind} at byte {at}")
    yield key >> 3, value


def text(raw):
  return raw.decode(errors="replace")


def read_bytes(path):
  path = Path(path)
  if path.suffix == ".zst":
    return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout
  data = path.read_bytes()
  return gzip.decompress(data) if path.suffix == ".gz" else data


def map_entry(raw):
  key, value = 0, b""
  for number, inner in fields(raw):
    if number == 1:
      key = inner
    elif number == 2:
      value = inner
  return key, value


def stat_value(raw, names):
  """(name, value) of an XStat; references are resolved."""
  name = value = None
  for number, inner in fields(raw):
    if number == 1:
      name = names.get(inner, "")
    elif number == 2:
      value = struct.unpack("<d", inner)[0]
    elif number == 5:
      value = text(inner)
    elif number == 6:
      value = inner
    elif number == 7:
      value = names.get(inner, "")
    else:
      value = inner
  return name, value


def plane_tables(raw):
  """Names of the stats; name and stats of each kind of event."""
  names, kinds = {}, {}
  for number, value in fields(raw):
    if number == 5:
      key, meta = map_entry(value)
      names[key] = next((text(v) for n, v in fields(meta) if n == 2), "")
    elif number == 4:
      key, meta = map_entry(value)
      kinds[key] = meta
  for key, meta in kinds.items():
    name, stats = "", {}
    for number, value in fields(meta):
      if number == 2:
        name = text(value)
      elif number == 5:
        stat, content = stat_value(value, names)
        stats[stat] = content
    kinds[key] = name, stats
  return names, kinds


def device_events(raw):
  names, kinds = plane_tables(raw)
  known = {}  # the same stat comes again in every step
  events = []
  for number, line in fields(raw):
    if number != 3:
      continue
    line_name, line_start, line_events = "", 0, []
    for number, value in fields(line):
      if number == 4:
        line_events.append(value)
      elif number == 2:
        line_name = text(value)
      elif number == 3:
        line_start = value * 1000
    for event in line_events:
      kernel, stats, offset, duration = "", {}, 0, 0
      own = []
      for number, value in fields(event):
        if number == 1:
          kernel, stats = kinds.get(value, ("", {}))
        elif number == 2:
          offset = value
        elif number == 3:
          duration = value
        elif number == 4:
          pair = known.get(value)
          if pair is None:
            pair = known[value] = stat_value(value, names)
          own.append(pair)
      if own:
        stats = dict(stats)
        stats.update(own)
      events.append(
          Event(line_start + offset, duration, kernel, stats.get("hlo_op") or "",
                stats.get("hlo_module") or "", stats.get("cuda_graph_id") or 0, line_name))
  events.sort()
  return events


def hlo_module(raw):
  """Of an HloModuleProto."""
  name, fingerprint, found = "", "", []
  for number, value in fields(raw):
    if number == 1:
      name = text(value)
    elif number == 3:
      for number, instruction in fields(value):
        if number == 2:
          found.append(hlo_instruction(instruction))
    elif number == 19:  # frontend attributes: a map of strings
      for _, entry in fields(value):
        key, content = map_entry(entry)
        if key == b"fingerprint_before_lhs":
          fingerprint = text(content)
  return Module(name, fingerprint, tuple(found))


def hlo_instruction(raw):
  name = opcode = scheduling = ""
  for number, value in fields(raw):
    if number == 1:
      name = text(value)
    elif number == 2:
      opcode = text(value)
    elif number == 7:
      for number, inner in fields(value):
        if number == 16:
          scheduling = text(inner)
  return Instruction(name, opcode, scheduling)


def read_hlo(path):
  """Of an HloProto file, as XLA dumps them."""
  for number, value in fields(read_bytes(path)):
    if number == 1:
      return hlo_module(value)
  raise ValueError(f"{path}: no HLO module")


@functools.lru_cache(maxsize=4)
def read_trace(path, with_hlo=True):
  """Of a path, which is not to change. What comes back is shared: leave it as it is."""
  data = read_bytes(path)
  devices, modules, warnings, start = {}, {}, [], 0
  for number, value in fields(data):
    if number in (2, 3):
      warnings.append(text(value))
    if number != 1:
      continue
    name = next((text(v) for n, v in fields(value) if n == 2), "")
    if name.startswith("/device:GPU:"):
      events = device_events(value)
      if events:
        devices[name] = events
    elif name == "/host:metadata" and with_hlo:
      _, kinds = plane_tables(value)
      for _, stats in kinds.values():
        raw = next((v for v in stats.values() if isinstance(v, bytes)), b"")
        for number, inner in fields(raw):
          if number == 1:
            module = hlo_module(inner)
            modules[module.name] = module
    elif name == "Task Environment":
      names, _ = plane_tables(value)
      stats = dict(stat_value(v, names) for n, v in fields(value) if n == 6)
      start = stats.get("profile_start_time") or 0
  if start:  # lines count from the profile's start, or from the epoch
    for name, events in devices.items():
      if events[0].start < start * 1000:
        devices[name] = [e._replace(start=e.start + start * 1000) for e in events]
  return Trace(devices, modules, warnings, start)


def count_events(path):
  """How many device events a trace holds, without decoding them."""
  count = 0
  for number, plane in fields(read_bytes(path)):
    if number != 1:
      continue
    name = next((text(v) for n, v in fields(plane) if n == 2), "")
    if name.startswith("/device:GPU:"):
      for number, line in fields(plane):
        if number == 3:
          count += sum(1 for n, _ in fields(line) if n == 4)
  return count


def find_traces(folder):
  """The *.xplane.pb files under a folder, by name."""
  found = [p for p in Path(folder).rglob("*") if re.search(r"\.xplane\.pb(\.zst|\.gz)?$", p.name)]
  return sorted(found)
