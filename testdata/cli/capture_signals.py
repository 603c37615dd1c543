"""The cases of capture_signals.sh: pgle-capture, launcher_client and a log directory as arguments."""

import os
import pty
import signal
import subprocess
import sys
import time

capture, client, logs = sys.argv[1:]
failures = 0

# Says when it is ready, counts a signal, and ends with 10 plus the count a little after the first.
COUNTER = """
import os, signal, sys, time
count = 0
def handle(number, frame):
  global count
  count += 1
signal.signal(int(sys.argv[1]), handle)
open(sys.argv[2], 'w').write(str(os.getpid()))
while count == 0:
  time.sleep(0.01)
time.sleep(0.3)
os._exit(10 + count)
"""
SLEEPER = """
import os, sys, time
open(sys.argv[1], 'w').write(str(os.getpid()))
time.sleep(float(sys.argv[2]))
os._exit(4)
"""


def check(good, what):
  global failures
  if not good:
    print(f'FAILED: {what}', file=sys.stderr)
    failures += 1


def wait_for(predicate, what, seconds=10):
  limit = time.time() + seconds
  while time.time() < limit:
    if predicate():
      return
    time.sleep(0.01)
  check(False, f'in vain: {what}')


def state(pid):
  with open(f'/proc/{pid}/stat') as stat:
    return stat.read().rpartition(')')[2].split()[0]


def pid_in(path):
  def is_there():
    return os.path.exists(path) and os.path.getsize(path) > 0

  wait_for(is_there, path)
  with open(path) as file:
    pid = int(file.read())
  os.remove(path)
  return pid


ready = logs + '.ready'


def start(*arguments, options=(), **keywords):
  return subprocess.Popen([capture, '-o', logs, *options, '--', *arguments],
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **keywords)


def ended(process, seconds=15):
  try:
    return process.wait(seconds)
  except subprocess.TimeoutExpired:
    process.kill()
    return 'no end'


def counter(number):
  return [sys.executable, '-c', COUNTER, str(int(number)), ready]


def sleeper(seconds):
  return [sys.executable, '-c', SLEEPER, ready, str(seconds)]


# To the launcher alone: passed on, once.
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1,
               signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN):
  process = start(*counter(number))
  pid_in(ready)
  process.send_signal(number)
  check(ended(process) == 11, f'signal {number} does not reach the command once')

# Killed by it: 128+N.
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
  process = start(*sleeper(60))
  pid_in(ready)
  process.send_signal(number)
  check(ended(process) == 128 + number, f'status after signal {number}')

# To the whole group: the launcher does not die of it before the command.
process = start(*counter(signal.SIGINT), start_new_session=True)
pid_in(ready)
os.killpg(process.pid, signal.SIGINT)
check(ended(process) in (11, 12), 'SIGINT to the group')

# Nobody waits for children here, and yet the command's status is known.
process = start(*sleeper(0.1), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
pid_in(ready)
check(ended(process) == 4, 'the status where SIGCHLD is ignored')

# Stopped and continued without a terminal: the command alone.
process = start(*sleeper(1))
pid = pid_in(ready)
process.send_signal(signal.SIGTSTP)
wait_for(lambda: state(pid) == 'T', 'the command stops')
check(state(process.pid) != 'T', 'the launcher stops where nobody would continue it')
process.send_signal(signal.SIGCONT)
wait_for(lambda: state(pid) != 'T', 'the command continues')
check(ended(process) == 4, 'the status after a stop')


def job(arguments, act):
  """Runs the launcher as a job of a terminal; act(write, job's pid, command's pid)."""
  session, terminal = pty.fork()
  if session == 0:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
      os.setpgid(0, 0)
      os.tcsetpgrp(0, os.getpid())
      signal.signal(signal.SIGTTOU, signal.SIG_DFL)
      os.dup2(os.open('/dev/null', os.O_WRONLY), 2)
      os.execv(capture, [capture, '-o', logs, '--', *arguments])
    with open(logs + '.job', 'w') as file:
      file.write(str(child))
    stops = 0
    while True:
      _, status = os.waitpid(child, os.WUNTRACED)
      if os.WIFSTOPPED(status):
        stops += 1
        time.sleep(0.2)
        os.tcsetpgrp(0, child)
        os.killpg(child, signal.SIGCONT)
        continue
      os._exit(stops * 50 + os.waitstatus_to_exitcode(status))
  launcher, command = pid_in(logs + '.job'), pid_in(ready)
  act(lambda keys: os.write(terminal, keys), launcher, command)
  status = os.waitstatus_to_exitcode(os.waitpid(session, 0)[1])
  os.close(terminal)
  return status


# From the terminal: the command has it already.
check(job(counter(signal.SIGINT), lambda write, *_: write(b'\x03')) == 11, 'Ctrl-C')
check(job(counter(signal.SIGQUIT), lambda write, *_: write(b'\x1c')) == 11, 'Ctrl-\\')
# Ctrl-Z: the shell sees the job stop; fg continues it. Also where the command stops itself.
check(job(sleeper(1), lambda write, *_: write(b'\x1a')) == 54, 'Ctrl-Z')
check(job(sleeper(1), lambda write, _, command: os.kill(command, signal.SIGSTOP)) == 54,
      'the command stops')

# SIGTERM inside the window: it is closed and written before the command gets the signal.
begin = ('slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5').split()
process = start(client, *begin, *'command close closing closed sleep 60'.split(),
                options=['--run', 'term'])
wait_for(lambda: os.path.exists(f'{logs}/.pgle-capture/term'), 'the private directory')
time.sleep(0.5)
sent = time.time()
process.send_signal(signal.SIGTERM)
check(ended(process) == 143, 'SIGTERM inside the window')
check(time.time() - sent < 1.5, 'a window that closes at once is not waited for')
check(len(os.listdir(f'{logs}/plugins/profile/term')) == 1, 'the run of a command that was ended')
# A recorder that does not answer delays it by two seconds; a second signal by nothing.
for signals, least, most in ((1, 1.8, 4), (2, 0, 1.5)):
  process = start(client, *begin, 'sleep', '60', options=['--run', f'deaf{signals}'])
  time.sleep(0.5)
  sent = time.time()
  for _ in range(signals):
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
  check(ended(process) == 143, 'SIGTERM, and the recorder does not answer')
  took = time.time() - sent
  check(least <= took <= most, f'{signals} signals: the command was ended after {took:.1f} s')
  check(len(os.listdir(f'{logs}/plugins/profile/deaf{signals}')) == 1, 'the truncated run')

# --on-signal: the window's, not the command's.
process = start(client, *'slot loaded spill ready module jit_step run jit_step 5 command open armed '
                'open run jit_step 5 command close closing closed end sleep 0.5'.split(),
                options=['--on-signal', 'USR2', '--run', 'signal'])
for _ in range(3):
  time.sleep(0.5)
  process.send_signal(signal.SIGUSR2)
check(ended(process) == 0, '--on-signal')
check(len(os.listdir(f'{logs}/plugins/profile/signal')) == 1, 'the run of --on-signal')

# --timeout: SIGTERM, and SIGKILL ten seconds later for who does not heed it. Meanwhile the launcher
# costs nothing.
begin = time.time()
process = start('sh', '-c', 'trap "" TERM; while :; do sleep 1; done', options=['--timeout', '1'])
time.sleep(8)
with open(f'/proc/{process.pid}/stat') as stat:
  fields = stat.read().rpartition(')')[2].split()
spent = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
check(spent <= 0.05, f'the launcher used {spent} s in 8 s')
check(ended(process) == 124, '--timeout')
check(10.5 <= time.time() - begin <= 14, f'SIGKILL after {time.time() - begin:.1f} s')

sys.exit(failures > 0)
