"""Reads what record-fixtures left: logs, HLO dumps and profiles. Standard library only.

  fixture_report.py clones HLO.pb...              instructions named .remat, tuple elements left out
  fixture_report.py remat-profiles HLO.pb PROFILE.pb OUT_DIR
                                                  profiles for the .remat experiment
  fixture_report.py log FILE...                   Found/Missing per step module
  fixture_report.py names FILE NAME...            what XLA said of single names
  fixture_report.py section FILE                  the log from the first step module on
"""

import re
import struct
import sys
from pathlib import Path


def varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    at += 1
    value |= (byte & 0x7F) << shift
    if byte < 0x80:
      return value, at
    shift += 7


def fields(data):
  """(number, value) of each field of a serialised message."""
  at = 0
  while at < len(data):
    key, at = varint(data, at)
    kind = key & 7
    if kind == 0:
      value, at = varint(data, at)
    elif kind == 1:
      value, at = data[at : at + 8], at + 8
    elif kind == 2:
      size, at = varint(data, at)
      value, at = data[at : at + size], at + size
    elif kind == 5:
      value, at = data[at : at + 4], at + 4
    else:
      raise ValueError(f"wire type {kind} at byte {at}")
    yield key >> 3, value


def instructions(path):
  """(name, opcode, scheduling name) of each instruction of an HloProto file."""
  for number, module in fields(Path(path).read_bytes()):
    if number != 1:
      continue
    for number, computation in fields(module):
      if number != 3:
        continue
      for number, instruction in fields(computation):
        if number != 2:
          continue
        name = opcode = scheduling = ""
        for number, value in fields(instruction):
          if number == 1:
            name = value.decode()
          elif number == 2:
            opcode = value.decode()
          elif number == 7:
            for number, inner in fields(value):
              if number == 16:
                scheduling = inner.decode()
        yield name, opcode, scheduling


def clones(path):
  return [i for i in instructions(path) if ".remat" in i[0]]


def read_profile(path):
  costs = []
  for number, entry in fields(Path(path).read_bytes()):
    if number == 1:
      cost = dict(fields(entry))
      value = struct.unpack("<d", cost[2])[0] if 2 in cost else 0.0
      costs.append((cost[1].decode(), value))
  return costs


def write_profile(path, costs):
  def size(n):
    out = bytearray()
    while n > 0x7F:
      out.append(n & 0x7F | 0x80)
      n >>= 7
    return bytes(out) + bytes([n])

  data = b""
  for name, value in costs:
    raw = name.encode()
    entry = b"\x0a" + size(len(raw)) + raw + b"\x11" + struct.pack("<d", value)
    data += b"\x0a" + size(len(entry)) + entry
  Path(path).write_bytes(data)


def show_clones(paths):
  for path in paths:
    found = [c for c in clones(path) if c[1] != "get-tuple-element"]
    names = {name for name, _, _ in instructions(path)}
    print(f"{Path(path).parent.name}/{Path(path).name}: {len(found)} instructions named .remat")
    for name, opcode, scheduling in found:
      original = name.split(".remat")[0]
      state = "present" if original in names else "absent"
      print(f"  {name} ({opcode}) scheduling_name={scheduling!r}; {original} is {state}")


def remat_profiles(hlo, profile, out):
  """Writes one profile per case; prints `F F.remat`. Costs tell the cases apart."""
  base = read_profile(profile)
  named = dict(base)
  found = clones(hlo)
  # A clone that ran, at the top level, with its original: the most telling one.
  ran = [c for c in found if c[0] in named] or found
  both = [c for c in ran if c[0].split(".remat")[0] in named] or ran
  both.sort(key=lambda c: not c[0].endswith(".remat"))
  if not both:
    sys.exit("no .remat clone in the HLO")
  clone = both[0][0]
  original = clone.split(".remat")[0]
  twin = original + ".remat"
  plain = [(n, c) for n, c in base if ".remat" not in n and n != original]
  cases = {
      # XLA is expected to strip .remat from every name, and average equal names.
      "a_clone_only": plain + [(twin, 111.0)],
      "b_original_only": plain + [(original, 222.0)],
      "c_double": plain + [(original, 333.0), (twin + ".remat", 444.0)],
      "c2_double_only": plain + [(twin + ".remat", 555.0)],
      "d_neither": plain,
      "e_both": plain + [(original, 100.0), (twin, 300.0)],
      "f_numbered": plain + [(twin + "7", 777.0)],
  }
  Path(out).mkdir(parents=True, exist_ok=True)
  for case, costs in cases.items():
    write_profile(Path(out) / f"{case}.pb", costs)
  print(original, clone)


PREFIX = re.compile(r"^[IWEF]\d{4} [\d:.]+\s+(\d+) \S+:\d+\] ?(.*)$")
MODULE = re.compile(r"Found profile for module (\S+?), using")
STEP = re.compile(r"jit_.*step")


def sections(path):
  """(module, lines) for each step module; lines of other threads are left out."""
  found, open_ = [], {}
  thread = None
  for line in Path(path).read_text(errors="replace").splitlines():
    m = PREFIX.match(line)
    # A line without a prefix continues the entry before it.
    text = m.group(2) if m else line
    thread = m.group(1) if m else thread
    start = MODULE.search(text)
    if start:
      open_.pop(thread, None)
      if STEP.match(start.group(1)):
        open_[thread] = []
        found.append((start.group(1), open_[thread]))
    elif thread in open_:
      open_[thread].append(text)
  return found


def show_log(paths):
  for path in paths:
    text = Path(path).read_text(errors="replace")
    print(f"{Path(path).name}:")
    for line in re.findall(r"^RESULT .*$", text, re.M):
      print(f"  {line}")
    if "Using PGLE profile" in text:
      print(f"  'Using PGLE profile' lines: {text.count('Using PGLE profile')}")
    for module, lines in sections(path):
      joined = "\n".join(lines)
      hit = re.search(r"Found (\d+) instructions from the profile", joined)
      miss = re.search(r"Missing (\d+) instructions from the profile", joined)
      print(f"  {module}: found {hit.group(1) if hit else '-'}, missing {miss.group(1) if miss else '-'}"
            + ("" if hit or miss else " (no line: nothing missing)"))
      if miss:
        at = next(i for i, l in enumerate(lines) if l.startswith("Missing ")) + 1
        names = [l.strip() for l in lines[at : at + int(miss.group(1))]]
        print("    " + " ".join(sorted(names)))


def show_names(path, names):
  found = sections(path)
  if not found:
    print("  no step module in the log used a profile")
  for module, lines in found:
    for name in names:
      entry = re.compile(r'name: "' + re.escape(name) + '"')
      kept = [i for i, l in enumerate(lines) if entry.search(l)]
      costs = [lines[i + 1].strip() for i in kept if i + 1 < len(lines)]
      hits = lines.count(f"PGLE found cost for: {name}")
      misses = lines.count(f"PGLE missed cost for: {name}")
      listed = any(l.strip() == name for l in lines)
      print(f"  {module}: {name}: found cost {hits} times, missed cost {misses} times, "
            f"{'listed' if listed else 'not listed'} as missing; filtered profile holds it: "
            f"{costs if kept else 'no'}")
    other = sorted({l.split(": ", 1)[1] for l in lines
                    if ".remat" in l and re.match(r"PGLE (found|missed) cost for: ", l)})
    print(f"  {module}: names with .remat that the scheduler asked for: {other or 'none'}")
    entries = sorted({e for l in lines for e in re.findall(r'name: "([^"]*\.remat[^"]*)"', l)})
    print(f"  {module}: names with .remat in the filtered profile: {entries or 'none'}")


def show_section(path):
  """Drops what the autotuner's own small modules wrote before the first step module."""
  lines = Path(path).read_text(errors="replace").splitlines()
  for at, line in enumerate(lines):
    start = MODULE.search(line)
    if start and STEP.match(start.group(1)):
      lines = lines[at:]
      break
  print("\n".join(lines))


def main():
  verb, args = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
  if verb == "clones" and args:
    show_clones(args)
  elif verb == "remat-profiles" and len(args) == 3:
    remat_profiles(*args)
  elif verb == "log" and args:
    show_log(args)
  elif verb == "names" and len(args) > 1:
    show_names(args[0], args[1:])
  elif verb == "section" and len(args) == 1:
    show_section(args[0])
  else:
    sys.exit(__doc__)


if __name__ == "__main__":
  main()
