#!/usr/bin/python3
"""The main path in a real terminal (tmux): home, the tiling lesson, a question answered, the simulator
forth and back, a prediction, a live run with a measured throughput, home again, out. And a UI that is
killed leaves no worker behind. Prints TAP.

MMTUTOR names the program. TOUR_SHOTS (a directory) keeps what each screen showed."""
import os, pathlib, re, signal, subprocess, sys, tempfile, time

MM = os.environ.get('MMTUTOR', './mmtutor')
SHOTS = os.environ.get('TOUR_SHOTS')
LIMIT = float(os.environ.get('TOUR_LIMIT', '60'))
count = failed = 0


def ok(good, name, detail=''):
    global count, failed
    count += 1
    print(('ok' if good else 'not ok'), count, '-', name, flush=True)
    if not good:
        failed += 1
        print('# ' + '\n# '.join(str(detail).split('\n')), flush=True)
    return good


class Screen:
    """One program in a tmux server of its own."""

    def __init__(self, cols, rows, home, args=''):
        self.name = f'mmtutor-tour-{os.getpid()}-{time.monotonic_ns()}'
        env = {k: v for k, v in os.environ.items()
               if k not in ('TMUX', 'LINES', 'COLUMNS', 'NO_COLOR') and not k.startswith('XDG_')}
        env.update(HOME=home, LC_ALL='C.UTF-8', TERM='xterm-256color')
        self.env = env
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(cols), '-y', str(rows),
                  f'exec sh -c "{MM} {args}; echo tour exit \\$?; exec sleep 1000"')

    def tmux(self, *args):
        return subprocess.run(['tmux', '-L', self.name, *args], env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def text(self):
        return self.tmux('capture-pane', '-p')

    def keys(self, *keys):
        self.tmux('send-keys', *keys)

    def typed(self, text):
        self.tmux('send-keys', '-l', text)

    def wait(self, pattern, limit=10.0):
        """The screen once the pattern is on it, or None after the limit."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            t = self.text()
            if re.search(pattern, t, re.M | re.S):
                return t
            time.sleep(0.03)
        return None

    def expect(self, pattern, name, limit=10.0):
        t = self.wait(pattern, limit)
        if SHOTS:
            with open(os.path.join(SHOTS, f'{count + 1:02d}.txt'), 'w') as f:
                f.write(t or self.text())
        return ok(t is not None, name, self.text() if t is None else '') and t

    def close(self):
        socket = self.tmux('display-message', '-p', '#{socket_path}').strip()
        self.tmux('kill-server')
        if os.path.basename(socket) == self.name:
            pathlib.Path(socket).unlink(missing_ok=True)


def choose(s, title):
    for _ in range(25):
        t = s.wait('▸', 5) or ''
        line = next((l for l in t.split('\n') if '▸' in l and 'mmtutor' not in l), '')
        if title in line:
            return True
        s.keys('j')
        end = time.monotonic() + 2
        while time.monotonic() < end and line in s.text().split('\n'):
            time.sleep(0.02)  # a slow screen would be read twice and the title passed by
    return False


def to_step(s, number):
    for _ in range(30):
        t = s.text()
        m = re.search(r'(\d+) of \d+', t)
        at = int(m.group(1)) if m else 0
        if at == number:
            return True
        key = 'n' if at < number else 'p'
        s.keys(key)
        s.wait(rf'{at + (1 if key == "n" else -1)} of \d+', 2)
    return False


def answer_bytes(s):
    """The numeric question of the lesson: works it out from the drawn numbers."""
    t = s.expect(r'How many bytes of A and B', 'the question is asked')
    if not t:
        return
    flat = re.sub(r'\s+', ' ', t)
    n = int(re.search(r'n = ([\d,]+)', flat).group(1).replace(',', ''))
    tile = int(re.search(r'T = (\d+)', flat).group(1))
    if not re.search(r'Enter', t.split('\n')[-2] + t.split('\n')[-1] + t):
        s.keys('Enter')
    s.typed('12')
    s.keys('Enter')
    s.expect('✗', 'a wrong answer gets a verdict')
    s.keys('Enter')
    for _ in range(14):
        s.keys('BSpace')
    s.typed(f'{8 * n ** 3 // tile}')
    s.keys('Enter')
    s.expect('✓', 'the right answer is taken')


def simulate(s):
    s.expect('step 0/', 'the simulator stands before the first load')
    for _ in range(3):
        s.keys('.')
    s.expect('step 3/', 'it steps forth')
    s.keys(',')
    s.expect('step 2/', 'and back')
    s.keys('B')
    s.expect('barrier', 'and on to a barrier')
    s.expect(r'✓ 4\(', 'the moved bytes equal the formula')


def live(s):
    s.expect('no idea', 'the run waits for a prediction')
    s.typed('5')
    s.keys('Enter')
    s.expect('yours', 'the prediction is kept')
    if os.environ.get('CFG') == 'asan':  # sanitized kernels crawl: a small run of one's own
        s.keys('s')
        s.expect('kernel', 'the settings open')
        for _ in range(3):
            s.keys('Down')
            for _ in range(6):
                s.keys('BSpace')
            s.typed('128')
        s.keys('Enter')
        s.expect('128³', 'the sizes are taken')
        s.keys('r')
        s.expect(r'\d (G|M)FLOP/s *│?$', 'a measured throughput appears', LIMIT)
        return
    gpu = 'The x-ray runs' not in (s.wait('r runs it') or '')
    s.keys('r')
    if not gpu:
        s.expect(r'counted +20\b', 'without a GPU the x-ray counts', LIMIT)
        s.expect(r'10,737,418,240', 'the sectors of the naive kernel')
        s.expect(r'536,870,912', 'and those of the tiled one')
        s.expect('Counts, not milliseconds', 'and it is said that they are no times')
        return
    s.expect(r'measured +[\d.]+', 'a measured ratio appears', LIMIT)
    s.expect(r'\d (G|T)FLOP/s', 'with the throughput of the runs')


def tour(home):
    s = Screen(160, 45, home)
    try:
        if not s.expect('Tiling', 'home lists the lessons'):
            return
        ok(choose(s, 'Tiling'), 'the tiling lesson can be chosen', s.text())
        s.keys('Enter')
        s.expect(r'1 of \d+', 'the lesson opens')
        ok(to_step(s, 2), 'second step', s.text())
        simulate(s)
        ok(to_step(s, 4), 'fourth step', s.text())
        answer_bytes(s)
        ok(to_step(s, 9), 'the prediction step', s.text())
        live(s)
        s.keys('q')
        s.expect('j k choose|Enter open', 'q leads home')
        s.keys('q')
        s.expect('tour exit 0', 'q ends the program')
    finally:
        s.close()


def resumed(home):
    s = Screen(100, 30, home, 'lesson tiling')
    try:
        s.expect(r'9 of \d+', 'the lesson resumes where it was left')
    finally:
        s.close()


def workers_of(home):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                args = f.read().split(b'\0')
            with open(f'/proc/{pid}/environ', 'rb') as f:
                env = f.read()
        except OSError:
            continue
        if f'HOME={home}'.encode() in env.split(b'\0') and b'mmtutor' in args[0]:
            found.append((int(pid), args[1:2] == [b'worker']))
    return found


def killed(home):
    s = Screen(100, 30, home)
    try:
        s.expect('Tiling', 'a second start')
        end = time.monotonic() + 10
        while time.monotonic() < end and not any(w for _, w in workers_of(home)):
            time.sleep(0.03)
        found = workers_of(home)
        ok(any(w for _, w in found), 'a worker runs', found)
        for pid, worker in found:
            if not worker:
                os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 10
        while time.monotonic() < end and any(w for _, w in workers_of(home)):
            time.sleep(0.03)
        ok(not any(w for _, w in workers_of(home)), 'kill -9 of the UI leaves no worker',
           workers_of(home))
    finally:
        s.close()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a time limit still closes the screens
    if subprocess.run(['sh', '-c', 'command -v tmux'], stdout=subprocess.DEVNULL).returncode:
        print('ok 1 - the tour # SKIP no tmux')
        print('1..1')
        return 0
    with tempfile.TemporaryDirectory() as home:
        tour(home)
        resumed(home)
        killed(home)
    print(f'1..{count}')
    return 1 if failed else 0


sys.exit(main())
