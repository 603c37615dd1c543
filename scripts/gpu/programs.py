"""Small training programs for two GPUs, to record profiles from.

  programs.py NAME [--steps N] [--warmup N] [--trace DIR] [--scale small|full]
  programs.py extract RUN_DIR OUT.pb
  programs.py --list

A run compiles and warms up, traces three steps if asked to, times N steps and
prints one line `RESULT {json}`. `extract` writes the profile that jaxlib makes
of a run folder (the one that holds *.xplane.pb). Needs jax and numpy only.
"""

import argparse
import json
import os
import statistics
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

BF16 = jnp.bfloat16
F32 = jnp.float32


def make_mesh():
  devices = jax.devices()
  if len(devices) < 2:
    sys.exit(f"two devices are needed, {len(devices)} found")
  return Mesh(np.array(devices[:2]), ("x",))


class Maker:
  """Arrays with small random values, placed with a sharding."""

  def __init__(self, mesh):
    self.mesh = mesh
    self.rng = np.random.default_rng(0)

  def sharding(self, *spec):
    return NamedSharding(self.mesh, P(*spec))

  def array(self, shape, *spec, scale=None, dtype=BF16):
    # A small block is repeated: filling large arrays on the host is slow.
    if scale is None:
      scale = 1.0 / np.sqrt(shape[-2] if len(shape) > 1 else shape[-1])
    block = self.rng.standard_normal(shape[-1] * 61, dtype=np.float32) * scale
    flat = np.resize(block.astype(dtype), int(np.prod(shape)))
    return jax.device_put(flat.reshape(shape), self.sharding(*spec))

  def zeros(self, shape, *spec, dtype=BF16):
    return jax.device_put(np.zeros(shape, dtype), self.sharding(*spec))


def sgd(params, grads, rate=1e-3):
  return jax.tree.map(lambda p, g: (p - rate * g.astype(F32)).astype(p.dtype), params, grads)


def mse(y, target):
  return jnp.mean(jnp.square(y.astype(F32) - target.astype(F32)))


# Every program below returns step, state: step(state) -> (state, scalar loss).


def two_modules(mesh, full):
  """A training and an evaluation step, fully sharded: instruction names clash."""
  m = Maker(mesh)
  d, f, layers, rows = (1024, 4096, 3, 8192) if full else (64, 128, 2, 64)
  params = [{"up": m.array((d, f), "x"), "down": m.array((f, d), "x")} for _ in range(layers)]
  x, target = m.array((rows, d), "x", scale=1.0), m.array((rows, d), "x", scale=1.0)

  def forward(params, x):
    for layer in params:
      up = lax.with_sharding_constraint(layer["up"], m.sharding())
      down = lax.with_sharding_constraint(layer["down"], m.sharding())
      h = x * lax.rsqrt(jnp.mean(jnp.square(x.astype(F32)), -1, keepdims=True) + 1e-6).astype(x.dtype)
      x = x + jax.nn.gelu(h @ up) @ down
      x = lax.with_sharding_constraint(x, m.sharding("x"))
    return x

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, x, target):
    loss, grads = jax.value_and_grad(lambda p: mse(forward(p, x), target))(params)
    grads = lax.with_sharding_constraint(grads, m.sharding("x"))
    return sgd(params, grads), loss

  @jax.jit
  def eval_step(params, x, target):
    y = forward(params, x)
    return mse(y, target), jnp.mean((jnp.argmax(y, -1) == jnp.argmax(target, -1)).astype(F32))

  def step(params):
    params, _ = train_step(params, x, target)
    loss, _ = eval_step(params, x, target)
    return params, loss

  return step, params


def remat(mesh, full):
  """Activations that are large but cheap to compute again: with a small
  --xla_gpu_memory_limit_slop_factor XLA's HloRematerialization clones them."""
  m = Maker(mesh)
  d, layers, rows = (1024, 6, 2 * 196608) if full else (32, 3, 256)
  params = [{"w": m.array((d, d)), "s": m.array((d,), scale=1.0)} for _ in range(layers)]
  x = m.array((rows, d), "x", scale=1.0)

  def loss_fn(params, x):
    c = jnp.zeros((d,), F32)
    for layer in params:
      # Made of a parameter and vectors alone, read by two GEMMs (so never
      # fused away), and kept from here until the layer's backward pass. The
      # all-reduced mean chains the layers, so that they are not fused.
      h = jnp.tanh(jnp.exp(-jnp.abs(x)) * layer["s"] + c.astype(BF16))
      c = jnp.mean((h @ layer["w"]).astype(F32) * x.astype(F32), 0)
    return jnp.mean(jnp.square(c - 1.0))

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    return sgd(params, grads), loss

  return lambda params: train_step(params, x), params


def permute(mesh, full):
  """A pipeline of two stages: one-way and ring ppermute, in loops and outside."""
  m = Maker(mesh)
  d, rows, micro, ring = (2048, 1024, 4, 2) if full else (64, 32, 4, 2)
  params = {
      "stage": m.array((2, 2, d, d), "x"),  # [stage, layer, d, d]
      "ring": m.array((2 * d, d), "x"),
      "head": m.array((d, d)),
  }
  x = m.array((micro, rows, d), scale=1.0)
  target = m.array((micro, rows, d), scale=1.0)
  one_way = [(0, 1)]
  around = [(0, 1), (1, 0)]

  def local_loss(params, x, target):
    stage = lax.axis_index("x")
    w = params["stage"][0]

    def tick(received, mb):
      h = jnp.where(stage == 0, mb, received)
      y = jnp.tanh(jnp.tanh(h @ w[0]) @ w[1])
      sent = lax.ppermute(y, "x", one_way)
      # Does not need what was sent: may overlap with it.
      return sent, jnp.tanh(y @ params["head"])

    # The last micro-batch reaches the second stage one tick later.
    padded = jnp.concatenate([x, jnp.zeros_like(x[:1])])
    _, ys = lax.scan(tick, jnp.zeros_like(x[0]), padded)
    ys = ys[1:]
    loss = jnp.where(stage == 1, mse(ys, target), 0.0)

    # A matrix product over blocks that travel around the ring.
    block, acc = x[0], jnp.zeros_like(x[0])
    for _ in range(ring):
      moved = lax.ppermute(block, "x", around)
      acc = acc + block @ params["ring"]
      block = moved
    # One way outside of any loop, beside an independent product.
    edge = lax.ppermute(acc, "x", one_way)
    loss = loss + mse(jnp.tanh(x[1] @ params["head"]) + edge, target[0])
    return lax.psum(loss, "x")

  def local_step(params, x, target):
    loss, grads = jax.value_and_grad(local_loss)(params, x, target)
    grads["head"] = lax.psum(grads["head"], "x")
    params = sgd(params, grads)

    # Gossip between neighbours, a ring exchange inside a fori_loop.
    def gossip(_, v):
      other = lax.ppermute(v, "x", around)
      return (0.5 * (jnp.tanh(v @ params["head"]) + other)).astype(v.dtype)

    mixed = lax.fori_loop(0, 3, gossip, params["ring"])
    params["ring"] = params["ring"] + 1e-4 * mixed
    return params, loss

  specs = {"stage": P("x"), "ring": P("x"), "head": P()}

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, x, target):
    return jax.shard_map(
        local_step, mesh=mesh, in_specs=(specs, P(), P()), out_specs=(specs, P()), check_vma=False
    )(params, x, target)

  return lambda params: train_step(params, x, target), params


def tensor_parallel(mesh, full):
  """Megatron-style attention and MLP: all-reduce of activations."""
  m = Maker(mesh)
  d, heads, f, layers, batch, seq = (1024, 8, 4096, 2, 4, 1024) if full else (64, 4, 128, 2, 2, 32)
  hd = d // heads
  params = [
      {
          "qkv": m.array((d, 3, heads, hd), None, None, "x", scale=d**-0.5),
          "out": m.array((heads, hd, d), "x", scale=d**-0.5),
          "up": m.array((d, f), None, "x"),
          "down": m.array((f, d), "x"),
      }
      for _ in range(layers)
  ]
  x, target = m.array((batch, seq, d), scale=1.0), m.array((batch, seq, d), scale=1.0)

  def norm(x):
    return (x * lax.rsqrt(jnp.mean(jnp.square(x.astype(F32)), -1, keepdims=True) + 1e-6)).astype(BF16)

  def forward(params, x):
    mask = jnp.tril(jnp.ones((seq, seq), bool))
    for p in params:
      q, k, v = jnp.moveaxis(jnp.einsum("bsd,dchk->bschk", norm(x), p["qkv"]), 2, 0)
      s = jnp.einsum("bqhk,bshk->bhqs", q, k).astype(F32) * hd**-0.5
      a = jax.nn.softmax(jnp.where(mask, s, -1e9), -1).astype(BF16)
      o = jnp.einsum("bhqs,bshk->bqhk", a, v)
      x = x + lax.with_sharding_constraint(jnp.einsum("bqhk,hkd->bqd", o, p["out"]), m.sharding())
      h = jax.nn.gelu(norm(x) @ p["up"])
      h = lax.with_sharding_constraint(h, m.sharding(None, None, "x"))
      x = x + lax.with_sharding_constraint(h @ p["down"], m.sharding())
    return x

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, x, target):
    loss, grads = jax.value_and_grad(lambda p: mse(forward(p, x), target))(params)
    return sgd(params, grads), loss

  return lambda params: train_step(params, x, target), params


def experts(mesh, full):
  """A mixture of experts: tokens travel by all_to_all."""
  m = Maker(mesh)
  d, f, layers, tokens, local = (1024, 2048, 2, 4096, 2) if full else (32, 64, 2, 64, 2)
  n = 2 * local  # experts
  params = [
      {
          "router": m.array((d, n)),
          "up": m.array((n, d, f), "x"),
          "down": m.array((n, f, d), "x"),
          "dense": m.array((d, d)),
      }
      for _ in range(layers)
  ]
  x = m.array((tokens, d), "x", scale=1.0)
  target = m.array((tokens, d), "x", scale=1.0)
  capacity = (tokens // 2) // n * 5 // 4

  def local_loss(params, x, target):
    for p in params:
      probs = jax.nn.softmax((x @ p["router"]).astype(F32), -1)
      choice = jax.nn.one_hot(jnp.argmax(probs, -1), n, dtype=F32)
      slot = (jnp.cumsum(choice, 0) - 1.0) * choice
      pick = jax.nn.one_hot(jnp.where(choice > 0, slot, -1).astype(jnp.int32), capacity, dtype=BF16)
      sent = jnp.einsum("tec,td->ecd", pick, x)  # [experts, capacity, d]
      got = lax.all_to_all(sent, "x", split_axis=0, concat_axis=1, tiled=True)
      # The dense branch needs no tokens from elsewhere: may overlap.
      dense = jnp.tanh(x @ p["dense"])
      h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", got, p["up"]))
      y = jnp.einsum("ecf,efd->ecd", h, p["down"])
      back = lax.all_to_all(y, "x", split_axis=1, concat_axis=0, tiled=True)
      gate = jnp.sum(probs * choice, -1, keepdims=True).astype(BF16)
      x = x + dense + gate * jnp.einsum("tec,ecd->td", pick, back)
    return lax.pmean(mse(x, target), "x")

  def local_step(params, x, target):
    loss, grads = jax.value_and_grad(local_loss)(params, x, target)
    for g in grads:
      g["router"], g["dense"] = lax.pmean((g["router"], g["dense"]), "x")
    return sgd(params, grads), loss

  specs = [{"router": P(), "up": P("x"), "down": P("x"), "dense": P()}] * layers

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, x, target):
    return jax.shard_map(
        local_step, mesh=mesh, in_specs=(specs, P("x"), P("x")), out_specs=(specs, P()), check_vma=False
    )(params, x, target)

  return lambda params: train_step(params, x, target), params


def conv(mesh, full):
  """A small convolutional network, data parallel: all-reduce of gradients."""
  m = Maker(mesh)
  batch, size, width = (64, 64, 128) if full else (4, 16, 8)
  shapes = [(3, 3, 8, width), (3, 3, width, width), (3, 3, width, 2 * width)]
  params = {
      "convs": [m.array(s, scale=(9 * s[2]) ** -0.5) for s in shapes],
      "dense": m.array((2 * width, 1024)),
      "head": m.array((1024, 1024)),
  }
  images = m.array((batch, size, size, 8), "x", scale=1.0)
  labels = jax.device_put(np.arange(batch, dtype=np.int32) % 1000, m.sharding("x"))

  def loss_fn(params, images, labels):
    x = images
    for i, w in enumerate(params["convs"]):
      stride = (1, 1) if i == 1 else (2, 2)
      x = lax.conv_general_dilated(x, w, stride, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
      x = jax.nn.relu(x)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jnp.mean(x.astype(F32), (1, 2)).astype(BF16)
    logits = (jax.nn.relu(x @ params["dense"]) @ params["head"]).astype(F32)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -jnp.mean(picked)

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, images, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
    return sgd(params, grads), loss

  return lambda params: train_step(params, images, labels), params


def conditional(mesh, full):
  """cond and switch with real work in the branches, and a while loop whose
  trip count depends on data; data parallel gradients."""
  m = Maker(mesh)
  d, rows = (1024, 16384) if full else (32, 64)
  state = {
      "params": {k: m.array((d, d)) for k in ("a", "b", "c", "out")},
      "count": m.zeros((), dtype=np.int32),
      "mean": m.zeros((), dtype=np.float32),
  }
  x, target = m.array((rows, d), "x", scale=1.0), m.array((rows, d), "x", scale=1.0)

  def centred(h):  # the mean over the global batch: an all-reduce inside a branch
    return (h.astype(F32) - jnp.mean(h.astype(F32), 0)).astype(BF16)

  def loss_fn(p, count, mean, x, target):
    h = lax.cond(
        mean > 0.5,
        lambda h: centred(jnp.tanh(h @ p["a"]) @ p["b"]),
        lambda h: jax.nn.gelu(h @ p["b"]),
        x,
    )
    h = lax.switch(
        count % 3,
        [
            lambda h: jnp.tanh(h @ p["a"]),
            lambda h: jax.nn.gelu(h @ p["b"]) @ p["c"],
            lambda h: centred(h) @ p["c"],
        ],
        h,
    )
    return mse(h @ p["out"], target)

  def polish(g):
    """Newton-Schulz steps until the gradient is close to orthogonal, at most 5."""
    g = g.astype(F32) / (jnp.sqrt(jnp.sum(jnp.square(g.astype(F32)))) + 1e-6)

    def more(carry):
      i, _, change = carry
      return (i < 5) & (change > 1e-3)

    def body(carry):
      i, v, _ = carry
      vb = v.astype(BF16)
      w = 1.5 * v - 0.5 * ((vb @ vb.T) @ vb).astype(F32)
      return i + 1, w, jnp.mean(jnp.abs(w - v))

    return lax.while_loop(more, body, (0, g, jnp.float32(1.0)))[1]

  @partial(jax.jit, donate_argnums=0)
  def train_step(state, x, target):
    args = (state["params"], state["count"], state["mean"], x, target)
    loss, grads = jax.value_and_grad(loss_fn)(*args)
    grads["out"] = polish(grads["out"])
    params = sgd(state["params"], grads)
    # Alternates around the condition's threshold.
    mean = jnp.where(state["mean"] > 0.5, 0.0, 1.0) + 0.0 * loss
    return {"params": params, "count": state["count"] + 1, "mean": mean}, loss

  return lambda state: train_step(state, x, target), state


PROGRAMS = {
    f.__name__: f
    for f in (two_modules, remat, permute, tensor_parallel, experts, conv, conditional)
}


def start_trace(folder):
  try:  # Python's own frames would outweigh the device's events.
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    jax.profiler.start_trace(folder, profiler_options=options)
  except (AttributeError, TypeError):
    jax.profiler.start_trace(folder)


def run(name, steps, warmup, trace, scale):
  begin = time.perf_counter()
  mesh = make_mesh()
  step, state = PROGRAMS[name](mesh, scale == "full")

  def one(state):
    state, loss = step(state)
    jax.block_until_ready((state, loss))
    return state, loss

  for _ in range(warmup):
    state, loss = one(state)
  ready = time.perf_counter() - begin

  if trace:
    start_trace(trace)
    for _ in range(3):
      state, loss = one(state)
    jax.profiler.stop_trace()

  times = []
  for _ in range(steps):
    t = time.perf_counter()
    state, loss = one(state)
    times.append((time.perf_counter() - t) * 1e3)
  result = {
      "program": name,
      "median_ms": round(statistics.median(times), 4) if times else None,
      "min_ms": round(min(times), 4) if times else None,
      "steps": steps,
      "warmup_s": round(ready, 2),
      "loss": round(float(loss), 5),
      "scale": scale,
      "platform": jax.devices()[0].platform,
      "jax": jax.__version__,
  }
  print("RESULT " + json.dumps(result), flush=True)


def extract(run_dir, out):
  from jax.experimental import profiler

  data = profiler.get_profiled_instructions_proto(os.path.abspath(run_dir))
  with open(out, "wb") as f:
    f.write(data)


def main():
  if sys.argv[1:2] == ["extract"]:
    if len(sys.argv) != 4:
      sys.exit("usage: programs.py extract RUN_DIR OUT.pb")
    return extract(*sys.argv[2:])
  if sys.argv[1:] == ["--list"]:
    return print("\n".join(PROGRAMS))
  parser = argparse.ArgumentParser()
  parser.add_argument("name", choices=list(PROGRAMS))
  parser.add_argument("--steps", type=int, default=30)
  parser.add_argument("--warmup", type=int, default=5)
  parser.add_argument("--trace")
  parser.add_argument("--scale", choices=("small", "full"), default="full")
  args = parser.parse_args()
  run(args.name, args.steps, max(1, args.warmup), args.trace, args.scale)


if __name__ == "__main__":
  main()
