"""Runs commands side by side and, where they are measured, one after the other."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path


class Job:
  """One command a process of a program. `turn`: they wait for their turn, as train.py does."""

  def __init__(self, name, argvs, env, folder, turn=False):
    self.name = name
    self.folder = Path(folder)
    self.folder.mkdir(parents=True, exist_ok=True)
    self.turn = self.folder / "turn" if turn else None
    self.argvs = argvs
    self.env = env
    self.processes = []
    self.status = None  # of the first process that failed
    self.end_time = None
    self.note = ""

  def log(self, process=0):
    return self.folder / (f"log{process}" if len(self.argvs) > 1 else "log")

  def text(self, process=0):
    try:
      return self.log(process).read_text(errors="replace")
    except OSError:
      return ""

  def result(self, process=0):
    """What train.py measured, or None."""
    return read_json(self.folder / f"result{process}.json")

  def start(self):
    for i, argv in enumerate(self.argvs):
      with open(self.log(i), "wb") as log:
        self.processes.append(
            subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log,
                             stderr=subprocess.STDOUT, env=self.env, start_new_session=True))

  def is_ready(self):
    return all(Path(f"{self.turn}.ready{i}").exists() for i in range(len(self.argvs)))

  def has_ended(self):
    return all(p.poll() is not None for p in self.processes)

  def wait(self, seconds):
    """Its status; after `seconds` it is killed."""
    end = time.monotonic() + max(seconds, 0)
    for p in self.processes:
      try:
        p.wait(max(end - time.monotonic(), 0.01))
      except subprocess.TimeoutExpired:
        self.note = "stopped: out of time"
        self.kill()
    self.end_time = time.time()
    codes = [p.returncode if p.returncode >= 0 else 128 - p.returncode for p in self.processes]
    self.status = next((c for c in codes if c), 0)
    return self.status

  def kill(self):
    for p in self.processes:
      try:
        os.killpg(p.pid, signal.SIGKILL)
      except ProcessLookupError:
        pass
      p.wait()

  def take_turn(self, seconds):
    Path(f"{self.turn}.go").touch()
    return self.wait(seconds)


def read_json(path):
  try:
    return json.loads(Path(path).read_text())
  except (OSError, ValueError):
    return None


def run_in_turn(jobs, left):
  """Starts all, waits until each is ready or has ended, then lets one after the other go on.

  left() tells the seconds that remain. What is not ready 15 s before the end is stopped.
  """
  for job in jobs:
    job.start()
  waiting = list(jobs)
  while waiting and left() > 15:
    waiting = [j for j in waiting if not j.is_ready() and not j.has_ended()]
    time.sleep(0.05)
  for job in jobs:
    # One that is late could disturb those that are measured.
    job.wait(0) if job in waiting else job.take_turn(min(left() - 5, 120))


def run_together(jobs, left, seconds=120):
  """For what is not measured."""
  for job in jobs:
    job.start()
  end = time.monotonic() + seconds
  for job in jobs:
    job.wait(min(left() - 5, end - time.monotonic()))
