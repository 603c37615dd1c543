"""Makes the profiles of a large job for benchmarks.

  make_profiles.py DIRECTORY COUNT INSTRUCTIONS

Writes DIRECTORY/hostNNNNN.pb: COUNT profiles of INSTRUCTIONS costs under one fingerprint. The names
are the same in all, the costs differ by up to 10 %. The same arguments give the same bytes.
"""
import os
import random
import struct
import sys

FINGERPRINT = '3d6b5a1c9e0f47828a1b2c3d4e5f6071'
KINDS = ('loop_multiply_fusion', 'gemm_fusion_dot', 'all-gather-start', 'input_reduce_fusion',
         'reduce-scatter', 'custom-call', 'loop_convert_fusion', 'wrapped_transpose')


def varint(value):
  out = bytearray()
  while value > 127:
    out.append(value & 127 | 128)
    value >>= 7
  out.append(value)
  return bytes(out)


def main():
  directory, count, instructions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
  os.makedirs(directory, exist_ok=True)
  content = bytearray()
  offsets = []  # of the costs
  base = []
  rng = random.Random(1)
  for i in range(instructions):
    name = f'{FINGERPRINT}::{KINDS[i % len(KINDS)]}.{i}'.encode()
    entry = b'\x0a' + varint(len(name)) + name + b'\x11'
    content += b'\x0a' + varint(len(entry) + 8) + entry
    offsets.append(len(content))
    content += bytes(8)
    base.append(rng.lognormvariate(3, 1.5))
  noise = [1 + rng.random() / 10 for _ in range(9973)]
  pack = struct.Struct('<d').pack_into
  for host in range(count):
    k = host * 7919
    for i, offset in enumerate(offsets):
      pack(content, offset, base[i] * noise[(k + i * 31) % 9973] + host * 1e-6)
    with open(os.path.join(directory, f'host{host:05}.pb'), 'wb') as output:
      output.write(content)


main()
