"""A transformer whose parameters are fully sharded over two devices, of any size.

The layers are unrolled or scanned. Works with one process and with one process a device.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

BF16, F32 = jnp.bfloat16, jnp.float32
VOCABULARY = 4096
RATE = 1e-3


def place(mesh, value, *spec):
  """Every process makes the whole array and hands over what its devices hold."""
  sharding = NamedSharding(mesh, P(*spec))
  return jax.make_array_from_callback(value.shape, sharding, lambda i: value[i])


def initial(mesh, layers, width):
  random = np.random.default_rng(0)

  def weights(shape, *spec):
    block = random.standard_normal(shape[-1] * 61, dtype=np.float32) * shape[-2] ** -0.5
    # A small block is repeated: filling large arrays on the host is slow.
    return place(mesh, np.resize(block.astype(BF16), int(np.prod(shape))).reshape(shape), *spec)

  return {
      "embed": weights((VOCABULARY, width), "x"),
      "qkv": weights((layers, width, 3 * width), None, "x"),
      "out": weights((layers, width, width), None, "x"),
      "up": weights((layers, width, 4 * width), None, "x"),
      "down": weights((layers, 4 * width, width), None, "x"),
  }


def transformer(mesh, layers, width, heads, length, scanned):
  """Returns step, state: step(state) -> (state, loss). One sequence a device."""
  whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))
  params = initial(mesh, layers, width)
  tokens = np.random.default_rng(1).integers(0, VOCABULARY, (2, length + 1), dtype=np.int32)
  tokens = place(mesh, tokens, "x")

  def gathered(weight):
    return lax.with_sharding_constraint(weight, whole)

  def norm(x):
    square = jnp.mean(jnp.square(x.astype(F32)), -1, keepdims=True)
    return x * lax.rsqrt(square + 1e-6).astype(x.dtype)

  def layer(x, w):
    batch, rows_, _ = x.shape
    qkv = norm(x) @ gathered(w["qkv"])
    q, k, v = (part.reshape(batch, rows_, heads, -1) for part in jnp.split(qkv, 3, -1))
    scores = jnp.einsum("bqhd,bshd->bhqs", q, k).astype(F32) * (width // heads) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((rows_, rows_), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqs,bshd->bqhd", jax.nn.softmax(scores, -1).astype(BF16), v)
    x = x + mixed.reshape(x.shape) @ gathered(w["out"])
    x = x + jax.nn.gelu(norm(x) @ gathered(w["up"])) @ gathered(w["down"])
    return lax.with_sharding_constraint(x, rows)

  def loss_of(params, tokens):
    embed = gathered(params["embed"])
    x = lax.with_sharding_constraint(embed[tokens[:, :-1]], rows)
    stacked = {name: w for name, w in params.items() if name != "embed"}
    if scanned:
      x, _ = lax.scan(lambda x, w: (layer(x, w), None), x, stacked)
    else:
      for i in range(layers):
        x = layer(x, {name: w[i] for name, w in stacked.items()})
    logits = (norm(x) @ embed.T).astype(F32)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1)
    return -jnp.mean(picked)

  @partial(jax.jit, donate_argnums=0)
  def train_step(params, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)

    def updated(param, grad):
      return (param - RATE * grad.astype(F32)).astype(param.dtype)

    return jax.tree.map(updated, params, grads), loss

  return lambda params: train_step(params, tokens), params
