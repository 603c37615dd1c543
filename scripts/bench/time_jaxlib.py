"""Times jaxlib's profile extraction, the call alone, in a fresh process.

  time_jaxlib.py RUN_DIRECTORY OUTPUT

Prints: seconds, peak RSS of the process in KB, RSS in KB before the call.
"""
import sys
import time

try:
  from jaxlib import _profiler as profiler
except ImportError:  # older jaxlib
  from jaxlib.xla_extension import profiler


def status_kb(key):
  with open('/proc/self/status') as status:
    return next(int(line.split()[1]) for line in status if line.startswith(key + ':'))


before = status_kb('VmRSS')
start = time.perf_counter()
profile = profiler.get_profiled_instructions_proto(sys.argv[1])
seconds = time.perf_counter() - start
print(f'{seconds:.4f} {status_kb("VmHWM")} {before}')
with open(sys.argv[2], 'wb') as output:
  output.write(profile)
