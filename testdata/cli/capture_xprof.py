"""jaxlib's extraction and XProf on runs that pgle-capture's converter wrote.

capture_xprof.py GRAPH.xplane.pb LAUNCHES.xplane.pb JAX.xplane.pb.zst WORK
GRAPH: every op of a module once a step; LAUNCHES: the steps that JAX holds as jax.profiler wrote it.
"""
import json
import os
import subprocess
import sys

from jax.experimental import profiler
from xprof.convert import raw_to_tool_data

graph, launches, jax_packed, work = sys.argv[1:]


def fields(message):
  """Yields (number, value) of a protobuf message; the values of other types than these fail."""
  i = 0

  def varint():
    nonlocal i
    value = shift = 0
    while True:
      byte = message[i]
      i += 1
      value |= (byte & 127) << shift
      shift += 7
      if byte < 128:
        return value

  while i < len(message):
    tag = varint()
    if tag & 7 == 0:
      yield tag >> 3, varint()
    elif tag & 7 == 1:
      yield tag >> 3, message[i:i + 8]
      i += 8
    elif tag & 7 == 2:
      size = varint()
      yield tag >> 3, message[i:i + size]
      i += size
    else:
      raise ValueError(f'wire type {tag & 7}')


def jaxlib_names(path):
  """Names of the costs that jaxlib extracts of a run, less the fingerprint."""
  folder = os.path.dirname(path)
  profile = profiler.get_profiled_instructions_proto(folder)
  names = set()
  for number, cost in fields(profile):
    if number == 1:
      name = dict(fields(cost))[1].decode()
      names.add(name.rsplit('::', 1)[-1])
  return names


def tool(path, name):
  data, _ = raw_to_tool_data.xspace_to_tool_data([path], name, {})
  assert data is not None, f'{name}: nothing'
  return json.loads(data)


def rows(table):
  names = [column['id'] for column in table['cols']]
  return [dict(zip(names, (cell['v'] for cell in row['c']))) for row in table['rows']]


def device_events(path):
  """Of the trace viewer: names by line, of the processes that are GPUs."""
  events = tool(path, 'trace_viewer')['traceEvents']
  gpus, lines = set(), {}
  for event in events:
    if event.get('ph') != 'M':
      continue
    if event['name'] == 'process_name' and '/device:GPU:' in event['args']['name']:
      gpus.add(event['pid'])
    if event['name'] == 'thread_name':
      lines[event['pid'], event['tid']] = event['args']['name']
  found = {}
  for event in events:
    if event.get('ph') == 'X' and event['pid'] in gpus:
      found.setdefault(lines[event['pid'], event['tid']], []).append(event['name'])
  return found


# Ops of the recording, as the maker of the recording named its kernels.
viewer = device_events(graph)
streams = [name for name in viewer if name.startswith('Stream #')]
assert streams == ['Stream #7(Compute)'], viewer.keys()
kernels = viewer[streams[0]]
ops = {name.removeprefix('kernel_of_') for name in kernels}
assert len(kernels) == 526 and len(ops) == 263, (len(kernels), len(ops))
# XProf derives these lines: steps by the host's step events, modules and ops by stats and scopes.
assert viewer['Steps'] == ['1', '2'], viewer['Steps']
assert viewer['XLA Modules - from #7'] == ['jit_train_step(2667)'] * 2
assert len(viewer['XLA Ops - from #7']) == 526 and set(viewer['XLA Ops - from #7']) == ops

names = jaxlib_names(graph)
assert names == ops, (sorted(names - ops)[:5], sorted(ops - names)[:5])

table = rows(tool(graph, 'hlo_stats'))
assert {row['hlo_op_name'] for row in table} == ops, len(table)
assert all(row['occurrences'] == 2 for row in table)
stats = rows(tool(graph, 'kernel_stats'))
assert {row['kernel_name'] for row in stats} == set(kernels)

# Against jax.profiler's own trace of the same steps: XProf shows the same figures.
os.makedirs(f'{work}/jax')
jax_trace = f'{work}/jax/vm.xplane.pb'
with open(jax_trace, 'wb') as out:
  subprocess.run(['zstd', '-dqc', jax_packed], stdout=out, check=True)
ours, theirs = rows(tool(launches, 'hlo_stats')), rows(tool(jax_trace, 'hlo_stats'))
assert len(ours) == len(theirs) > 100, (len(ours), len(theirs))
for mine, other in zip(ours, theirs):
  for column, value in other.items():
    # The expression prints attributes, which are left out.
    assert column == 'hlo_op_expression' or mine[column] == value, (column, mine[column], value)
assert jaxlib_names(launches) == jaxlib_names(jax_trace)
kernel_times = [
    sorted((row['kernel_name'], row['occurrences'], row['total_duration_us'])
           for row in rows(tool(path, 'kernel_stats'))) for path in (launches, jax_trace)
]
assert len(kernel_times[0]) > 50
assert [t[0] for t in kernel_times[0]] == [t[0] for t in kernel_times[1]]
for mine, other in zip(*kernel_times):
  assert mine == other, (mine, other)
derived = [{line: names for line, names in device_events(path).items() if line.startswith('XLA ')}
           for path in (launches, jax_trace)]
assert derived[0] == derived[1]
