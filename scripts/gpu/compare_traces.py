"""Compares what two recorders saw of the same program: kernels, their ops and their times.

  compare_traces.py --steps N A.xplane.pb B.xplane.pb
  compare_traces.py --steps N A0.xplane.pb A1.xplane.pb -- B0.xplane.pb B1.xplane.pb

A is the reference. Both hold N steps of one module. Several files of a side are its processes, in
the same order on both sides. Prints JSON. Standard library only.

Noise. A kernel runs slower while a collective runs beside it, so single executions of an op differ
by tens of percent, with any recorder. Hence an op's time is the median over its steps and devices;
of a collective, which also waits for the slowest device, the shortest device of every step counts.
The standard error of a median follows from the spread of its steps. An op *agrees* if the two
medians differ by at most 2 %, or by a tick of the device's clock, or by no more than three standard
errors of the difference; how many agree by the first two alone is told too.
"""

import json
import re
import statistics
import sys
from collections import Counter, defaultdict

import xspace

TOLERANCE = 0.02
TICK_US = 0.064  # times are multiples of 32 ns: start and end are each off by up to one
COLLECTIVE = re.compile(
    r"^(all.gather|all.reduce|reduce.scatter|all.to.all|collective.permute|send|recv)")


def main_module(traces):
  """The module that has most device time."""
  time = Counter()
  for trace in traces:
    for events in trace.devices.values():
      for e in events:
        if e.module:
          time[e.module] += e.duration
  return time.most_common(1)[0][0] if time else ""


def of_module(traces, module):
  """(process, device) -> events; those without a module belong to it: all that ran is its."""
  return {
      (i, name): [e for e in events if e.module in (module, "")]
      for i, trace in enumerate(traces)
      for name, events in sorted(trace.devices.items())
  }


def is_named(event):
  return bool(event.op) and not event.op.startswith("command_buffer")


def attribution(devices):
  """Shares of the kernels and of their time that carry the name of an op."""
  events = [e for found in devices.values() for e in found]
  total = sum(e.duration for e in events)
  named = [e for e in events if is_named(e)]
  return {
      "events": len(events),
      "in_graphs": sum(1 for e in events if e.graph),
      "by_count": len(named) / len(events) if events else 0.0,
      "by_time": sum(e.duration for e in named) / total if total else 0.0,
      "ops": sorted({e.op for e in named}),
      "command_buffers": len({e.op for e in events if e.op.startswith("command_buffer")}),
  }


def kernels(devices, key):
  return {device: Counter(key(e) for e in events) for device, events in devices.items()}


def per_step(devices, key, steps):
  """key -> {device: [us of a step]}; keys that do not run equally often each step are left out."""
  runs = defaultdict(lambda: defaultdict(list))
  for device, events in devices.items():
    for e in events:
      runs[key(e)][device].append(e.duration)
  result = {}
  for name, by_device in runs.items():
    if any(len(d) % steps for d in by_device.values()):
      continue
    result[name] = {}
    for device, durations in by_device.items():
      n = len(durations) // steps
      result[name][device] = [sum(durations[i * n : (i + 1) * n]) / 1e6 for i in range(steps)]
  return result


def cost(by_device, is_collective):
  """Median and its standard error, in us."""
  columns = list(by_device.values())
  values = [min(row) for row in zip(*columns)] if is_collective else sum(columns, [])
  median = statistics.median(values)
  spread = 1.4826 * statistics.median(abs(v - median) for v in values)
  return median, 1.2533 * spread / len(values) ** 0.5


def compare_times(a, b):
  """Of the two sides' per_step()."""
  groups = {"compute": [], "collective": []}
  for name in sorted(set(a) & set(b)):
    is_collective = bool(COLLECTIVE.match(name)) or "nccl" in name.lower()
    (ma, ea), (mb, eb) = cost(a[name], is_collective), cost(b[name], is_collective)
    off = abs(mb - ma)
    plain = off <= max(TOLERANCE * ma, TICK_US)
    agrees = plain or off <= 3 * (ea**2 + eb**2) ** 0.5
    groups["collective" if is_collective else "compute"].append((name, ma, mb, plain, agrees))
  result = {}
  for group, ops in groups.items():
    total_a, total_b = sum(o[1] for o in ops), sum(o[2] for o in ops)
    beyond = sorted((o for o in ops if not o[4]), key=lambda o: -abs(o[1] - o[2]))
    result[group] = {
        "ops": len(ops),
        "us_a": round(total_a, 2),
        "us_b": round(total_b, 2),
        "total_off": total_b / total_a - 1 if total_a else 0.0,
        "within_2_percent": sum(o[3] for o in ops),
        "agree": sum(o[4] for o in ops),
        "time_share_beyond": sum(o[1] for o in beyond) / total_a if total_a else 0.0,
        "worst": [(o[0], round(o[1], 3), round(o[2], 3)) for o in beyond[:10]],
    }
  return result


def halves(devices, steps):
  """Even and odd steps of one recording, as two recordings."""
  sides = [{}, {}]
  for device, events in devices.items():
    counts = Counter((e.op, e.kernel) for e in events)
    seen = Counter()
    split = [[], []]
    for e in events:
      n = counts[e.op, e.kernel] // steps
      step = seen[e.op, e.kernel] // n if n else 0
      seen[e.op, e.kernel] += 1
      split[step % 2].append(e)
    sides[0][device], sides[1][device] = split
  return sides


def differences(a, b, steps):
  """[(device, key, runs a step in a, in b)]"""
  found = []
  for device in sorted(set(a) | set(b)):
    left, right = a.get(device, Counter()), b.get(device, Counter())
    for key in sorted(set(left) | set(right)):
      if left[key] != right[key]:
        found.append((f"{device[0]}{device[1]}", key, left[key] / steps, right[key] / steps))
  return found


def activity(name):
  """A copy in a graph that was made before the recorder came shows as the kernel that copies."""
  return "MemcpyD2D" if re.fullmatch(r"memcpy\d+(_post)?", name) else name


def compare(paths_a, paths_b, steps, by_kernel=False):
  """by_kernel: the reference does not name the ops, only kernels are compared."""
  a = [xspace.read_trace(p) for p in paths_a]
  b = [xspace.read_trace(p) for p in paths_b]
  module = main_module(a)
  if not module or main_module(b) != module:
    raise ValueError(f"modules '{module}' and '{main_module(b)}': not the same program")
  sides = of_module(a, module), of_module(b, module)
  op = (lambda e: activity(e.kernel)) if by_kernel else (lambda e: e.op)
  kernel = op if by_kernel else (lambda e: f"{e.op} {e.kernel}")
  counts = kernels(sides[0], kernel), kernels(sides[1], kernel)
  hlo = [
      sorted({t.modules[module].fingerprint for t in side if module in t.modules})
      for side in (a, b)
  ]
  result = {
      "module": module,
      "steps": steps,
      "fingerprints": hlo,
      "same_program": bool(hlo[0]) and hlo[0] == hlo[1],
      "a": attribution(sides[0]),
      "b": attribution(sides[1]),
      "kernels_a_step": [sum(sum(c.values()) for c in side.values()) / steps for side in counts],
      "kinds": len({k for c in counts[0].values() for k in c}),
      "differences": differences(*counts, steps),
      # Where these are none, the recorders only write the kernels' names differently.
      "differences_by_op": differences(kernels(sides[0], op), kernels(sides[1], op), steps),
      "times": compare_times(per_step(sides[0], op, steps), per_step(sides[1], op, steps)),
      "warnings": [sum((t.warnings for t in side), []) for side in (a, b)],
  }
  if steps >= 4:
    even, odd = halves(sides[0], steps)
    count = steps // 2
    even = {k: v for k, v in per_step(even, op, steps - count).items()}
    odd = {k: v for k, v in per_step(odd, op, count).items()}
    result["noise"] = compare_times(even, odd)
  return result


def main():
  args = sys.argv[1:]
  if len(args) < 4 or args[0] != "--steps":
    sys.exit(__doc__)
  steps, files = int(args[1]), args[2:]
  cut = files.index("--") if "--" in files else len(files) // 2
  a, b = files[:cut], [f for f in files[cut:] if f != "--"]
  result = compare(a, b, steps)
  print(json.dumps(result, indent=1))


if __name__ == "__main__":
  main()
