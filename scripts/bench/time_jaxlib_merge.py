"""Times jaxlib's aggregation of profiles in a fresh process.

  time_jaxlib_merge.py DIRECTORY PERCENTILE OUTPUT

Prints: seconds with the reading of the files, peak RSS of the process in KB, seconds of the call
alone.
"""
import os
import sys
import time

try:
  from jaxlib import _profiler as profiler
except ImportError:  # older jaxlib
  from jaxlib.xla_extension import profiler

directory, percentile, output = sys.argv[1:]
start = time.perf_counter()
profiles = []
for name in sorted(os.listdir(directory)):
  with open(os.path.join(directory, name), 'rb') as file:
    profiles.append(file.read())
read = time.perf_counter()
merged = profiler.aggregate_profiled_instructions(profiles, int(percentile))
end = time.perf_counter()
with open('/proc/self/status') as status:
  peak = next(int(line.split()[1]) for line in status if line.startswith('VmHWM:'))
print(f'{end - start:.4f} {peak} {end - read:.4f}')
with open(output, 'wb') as file:
  file.write(merged)
