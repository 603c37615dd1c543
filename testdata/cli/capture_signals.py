"""The cases of capture_signals.sh: pgle-capture, launcher_client and a log directory as arguments."""

import glob
import os
import pty
import resource
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
# Ends when it is continued.
STOPPED = """
import os, signal, sys, time
signal.signal(signal.SIGCONT, lambda *_: os._exit(4))
open(sys.argv[1], 'w').write(str(os.getpid()))
time.sleep(60)
os._exit(5)
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


def wait_for(predicate, what, seconds=60):
  limit = time.time() + seconds
  while time.time() < limit:
    if predicate():
      return
    time.sleep(0.01)
  check(False, f'in vain: {what}')


def state(pid):
  with open(f'/proc/{pid}/stat') as stat:
    return stat.read().rpartition(')')[2].split()[0]


def has_no_child(pid):
  with open(f'/proc/{pid}/task/{pid}/children') as children:
    return not children.read().strip()


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


def await_recording(run, *steps):
  """Until a process of the run has done the steps, as launcher_client has them."""
  def has_come():
    pages = glob.glob(f'{logs}/.pgle-capture/{run}/*/control')
    try:
      return pages and subprocess.run([client, *steps], stdin=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=60,
                                      env={**os.environ, 'PGLE_CAPTURE_CONTROL': pages[0]}
                                      ).returncode == 0
    except subprocess.TimeoutExpired:
      return False

  wait_for(has_come, f'{run}: {steps}')


def ended(process, seconds=60):
  try:
    return process.wait(seconds)
  except subprocess.TimeoutExpired:
    process.kill()
    return 'no end'


def counter(number):
  return [sys.executable, '-c', COUNTER, str(int(number)), ready]


def sleeper(seconds):
  return [sys.executable, '-c', SLEEPER, ready, str(seconds)]


def stopped():
  return [sys.executable, '-c', STOPPED, ready]


# A session without a terminal, in which process groups have a parent who could continue them: in
# others the system ignores SIGTSTP.
if os.getpid() != os.getsid(0):
  if os.getpid() == os.getpgrp():
    child = os.fork()
    if child != 0:
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
  os.setsid()


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
process = start(*stopped(), preexec_fn=lambda: os.setpgid(0, 0))
pid = pid_in(ready)
process.send_signal(signal.SIGTSTP)
wait_for(lambda: state(pid) == 'T', 'the command stops')
time.sleep(0.3)
check(state(process.pid) != 'T', 'the launcher stops where nobody would continue it')
process.send_signal(signal.SIGCONT)
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
check(job(stopped(), lambda write, *_: write(b'\x1a')) == 54, 'Ctrl-Z')
check(job(stopped(), lambda write, _, command: os.kill(command, signal.SIGSTOP)) == 54,
      'the command stops')

# SIGTERM inside the window: it is closed and written before the command gets the signal.
begin = ('slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5').split()


def terminate(run, steps, signals):
  """Inside the window; returns the seconds that the command lived on."""
  process = start(client, *begin, *steps.split(), options=['--run', run])
  await_recording(run, 'await', 'open', 'records', '5')
  sent = time.time()
  for number in range(signals):
    if number > 0:
      time.sleep(0.1)  # equal signals that wait are one
    process.send_signal(signal.SIGTERM)
  check(ended(process) == 143, f'{run}: SIGTERM inside the window')
  took = time.time() - sent
  check(len(os.listdir(f'{logs}/plugins/profile/{run}')) == 1, f'{run}: the truncated run')
  return took


def is_at_once(name, steps, signals):
  return any(terminate(f'{name}{i}', steps, signals) < 1.5 for i in range(5))


check(is_at_once('term', 'command close closing closed sleep 60', 1),
      'a window that closes at once is not waited for')
# A recorder that does not answer delays it by two seconds; a second signal by nothing.
took = terminate('deaf', 'sleep 60', 1)
check(1.8 <= took <= 30, f'the command was ended after {took:.1f} s')
check(is_at_once('hasty', 'sleep 60', 2), 'the second SIGTERM is not passed on at once')

# --on-signal: the window's, not the command's.
process = start(client, *'slot loaded spill ready module jit_step run jit_step 5 command open armed '
                'open run jit_step 5 command close closing closed end sleep 3'.split(),
                options=['--on-signal', 'USR2', '--run', 'signal'])
for steps in (('await', 'ready'), ('await', 'open', 'records', '5'), ('await', 'closed')):
  await_recording('signal', *steps)
  process.send_signal(signal.SIGUSR2)
check(ended(process) == 0, '--on-signal')
check(len(os.listdir(f'{logs}/plugins/profile/signal')) == 1, 'the run of --on-signal')

# The last conversion does not end, since the recording is a pipe that nobody writes: SIGQUIT ends it,
# and of SIGTERM the second.
for number, count in ((signal.SIGTERM, 2), (signal.SIGQUIT, 1)):
  run = f'stuck{int(number)}'
  process = start('sh', '-c', '"$@"; cd "$0"/*; for f in p*.pgle; do rm $f; mkfifo $f; done',
                  f'{logs}/.pgle-capture/{run}', client, *begin, options=['--run', run],
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
  wait_for(lambda: glob.glob(f'{logs}/.pgle-capture/{run}/*/p*.pgle') and has_no_child(process.pid),
           'the command ends')
  time.sleep(0.5)
  for i in range(count):
    check(process.poll() is None, f'{count} times {number}: too early an end')
    process.send_signal(number)
    time.sleep(0.5)
  check(ended(process) == -number, f'{count} times {number} while the records are converted')
  check(len(glob.glob(f'{logs}/.pgle-capture/{run}/*/p*.pgle')) == 1, 'what was recorded')

# --timeout: SIGTERM, and SIGKILL ten seconds later for who does not heed it. Meanwhile the launcher
# costs nothing.
begin = time.time()
process = start('sh', '-c', 'trap "" TERM; while :; do sleep 1; done', options=['--timeout', '1'])
time.sleep(8)
with open(f'/proc/{process.pid}/stat') as stat:
  fields = stat.read().rpartition(')')[2].split()
spent = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
check(spent <= 0.25, f'the launcher used {spent} s in 8 s')
check(ended(process) == 124, '--timeout')
check(10.5 <= time.time() - begin <= 50, f'SIGKILL after {time.time() - begin:.1f} s')

sys.exit(failures > 0)
