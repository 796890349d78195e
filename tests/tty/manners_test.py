#!/usr/bin/python3
"""How mmtutor behaves in a terminal: it leaves it as it found it, however it ends; survives every size; refuses
what cannot show it; costs nothing when idle; and what it draws step by step is what a full redraw gives.

TAP. MMTUTOR names the program. Every wait is for a condition, with a limit; probes run in parallel."""
import concurrent.futures
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte


class Scrolling(pyte.Screen):
    """pyte leaves out SU and SD, which curses uses where a terminal's description has them."""

    def _at(self, row, step, count):
        saved = self.cursor.x, self.cursor.y
        self.cursor.y = row
        for _ in range(count or 1):
            step()
        self.cursor.x, self.cursor.y = saved

    def scroll_up(self, count=1):
        bottom = self.margins.bottom if self.margins else self.lines - 1
        self._at(bottom, self.index, count)

    def scroll_down(self, count=1):
        self._at(self.margins.top if self.margins else 0, self.reverse_index, count)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, S="scroll_up", T="scroll_down")
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}

from wcwidth import wcwidth

PROGRAM = os.path.abspath(os.environ.get("MMTUTOR", "./mmtutor"))
LIMIT = 20.0
QUIET = 0.15
SCRATCH = tempfile.TemporaryDirectory()
COLOUR = re.compile(rb"\x1b\[[0-9;]*(?:3[0-7]|4[0-7]|38;|48;|9[0-7])[0-9;]*m")
# A worker that never answers: the screen stays as the keys make it.
MUTE = ["--worker", "exec sleep 600"]


def environment(changes):
    keep = ("PATH", "MMTUTOR_DATA", "ASAN_OPTIONS", "UBSAN_OPTIONS")
    env = {k: os.environ[k] for k in keep if k in os.environ}
    env.update(HOME=tempfile.mkdtemp(dir=SCRATCH.name), TERM="xterm-256color", LC_ALL="C.UTF-8")
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


class Terminal:
    """A program on a pty of its own, with an emulator that shows its screen."""

    def __init__(self, *args, env=None, cols=80, rows=24, mute=True, command=None, stdin=None,
                 stdout=None, ignore_hup=False, answer=b"\x1b[1;2R"):
        self.master, self.slave = pty.openpty()
        self.resize(cols, rows, quiet=True)
        self.screen = Scrolling(cols, rows)
        self.stream = Stream(self.screen)
        self.out, self.answer, self.answered = b"", answer, False
        command = command or [PROGRAM, *(MUTE if mute else []), *args]

        def child():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            if ignore_hup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)

        self.process = subprocess.Popen(
            command, env=environment(env or {}), preexec_fn=child,
            stdin=self.slave if stdin is None else stdin,
            stdout=self.slave if stdout is None else stdout, stderr=self.slave)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd is not None:
                os.close(fd)

    def resize(self, cols, rows, quiet=False):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        if not quiet:
            self.screen.resize(rows, cols)

    def read(self, seconds):
        """Takes what comes within that time; returns it."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return b""
        self.out += data
        self.stream.feed(data)
        if self.answer and not self.answered and b"\x1b[6n" in self.out:
            self.answered = True
            os.write(self.master, self.answer)
        return data

    def until(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; screen:\n" + self.text())
            self.read(0.05)

    def settle(self):
        """Until the screen says mmtutor or ends, and then until nothing comes for a moment."""
        self.until(lambda: self.ended() or self.text().strip(), "a first frame")
        while self.read(QUIET):
            pass
        return self

    def running(self):
        """The same, and the program goes on."""
        self.settle()
        assert not self.ended(), f"ended with {self.process.returncode}: {self.out[-400:]!r}"
        return self

    def send(self, data):
        os.write(self.master, data)

    def ended(self):
        return self.process.poll() is not None

    def wait(self):
        self.until(self.ended, "the end of the program")
        while self.read(0.05):
            pass
        return self.process.returncode

    def text(self):
        """The screen. Half a wide character that was written over is a blank, as in real terminals."""
        return "\n".join("".join(self.cell(x, y) for x in range(self.screen.columns))
                         for y in range(self.screen.lines))

    def cell(self, x, y):
        row = self.screen.buffer[y]
        if row[x].data:
            return row[x].data
        return "" if x > 0 and row[x - 1].data and wcwidth(row[x - 1].data[0]) == 2 else " "

    def left(self):
        """What stayed switched on, as words."""
        bad, flags = [], termios.tcgetattr(self.slave)[3]
        if not flags & termios.ECHO:
            bad.append("no echo")
        if not flags & termios.ICANON:
            bad.append("raw")
        for name, on, off in (("alternate screen", b"?1049h", b"?1049l"), ("cursor", b"?25l", b"?25h"),
                              ("mouse", b"?1000h", b"?1000l")):
            if self.out.rfind(on) > self.out.rfind(off):
                bad.append(name)
        return bad

    def cpu(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def equal(got, want, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


# ---- ending


def quit_by(keys):
    with Terminal() as t:
        t.running().send(keys)
        equal(t.wait(), 0, "exit code")
        equal(t.left(), [], "left switched on")


def ended_by(number):
    with Terminal() as t:
        t.running()
        os.kill(t.pid, number)
        equal(t.wait(), -number, "ended by")
        equal(t.left(), [], "left switched on")


def crash(number):
    with Terminal() as t:
        t.running()
        os.kill(t.pid, number)
        equal(t.wait(), -number, "ended by")
        equal(t.left(), [], "left switched on")
        line = t.out[t.out.rfind(b"?1049l"):]
        assert b"Please report" in line and number.name.encode() in line, f"no report in {line!r}"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(p) for p in f.read().split()]


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def killed_leaves_no_worker():
    with Terminal(mute=False) as t:
        t.until(lambda: t.ended() or children(t.pid), "a worker")
        workers = children(t.pid)
        os.kill(t.pid, signal.SIGKILL)
        t.wait()
        t.until(lambda: not any(running(p) for p in workers), "the end of the worker")


def pty_gone():
    with Terminal(ignore_hup=True) as t:
        t.running()
        os.close(t.master)
        os.close(t.slave)
        t.master = t.slave = None
        try:
            t.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError("still running after its terminal went away") from None


# ---- sizes


def resized(cols, rows):
    with Terminal() as t:
        before = t.running().text()
        t.resize(cols, rows)
        while t.read(QUIET):
            pass
        assert not t.ended(), "ended"
        t.resize(80, 24)
        t.until(lambda: t.ended() or t.text() == before, "the same screen as before")
        assert not t.ended(), "ended"


def started(cols, rows):
    with Terminal(cols=cols, rows=rows) as t:
        t.running()
        t.send(b"q")
        equal(t.wait(), 0, "exit code")


def resize_storm():
    with Terminal() as t:
        before = t.running().text()
        for i in range(80):
            t.resize(1 + i * 13 % 120, 1 + i * 7 % 40)
            t.read(0.01)
        t.resize(80, 24)
        t.until(lambda: t.ended() or t.text() == before, "the same screen as before")
        assert not t.ended(), "ended"


# ---- terminal types and what is no terminal


def refused(**how):
    with Terminal(**how) as t:
        equal(t.wait(), 2, "exit code")
        assert b"mmtutor: " in t.out, f"no sentence: {t.out!r}"
        assert b"\x1b" not in t.out, f"escapes: {t.out!r}"


def shown_on(term):
    with Terminal(env={"TERM": term}) as t:
        assert "mmtutor" in t.running().text(), t.text()
        t.send(b"q")
        equal(t.wait(), 0, "exit code")


def dumb_has_no_escapes():
    with Terminal(env={"TERM": "dumb"}) as t:
        t.until(lambda: t.ended() or t.out, "some text")
        t.send(b"\x04")
        t.wait()
        assert b"\x1b" not in t.out, f"escapes: {t.out!r}"


def stdout_is_a_file():
    with tempfile.TemporaryFile(dir=SCRATCH.name) as f, Terminal(stdout=f) as t:
        equal(t.wait(), 2, "exit code")
        equal(f.seek(0, os.SEEK_END), 0, "bytes in the file")


def plain_locale():
    with Terminal(env={"LC_ALL": "C"}) as t:
        assert "mmtutor" in t.running().text(), t.text()
        equal([b for b in t.out if b > 127], [], "bytes above 127")


def chinese_needs_utf8():
    with Terminal("--lang", "zh", env={"LC_ALL": "C"}) as t:
        t.running()
        assert b"UTF-8" in t.out, "it does not say that Chinese needs UTF-8"
        equal([b for b in t.out if b > 127], [], "bytes above 127")


def no_color():
    with Terminal() as t:
        assert COLOUR.search(t.running().out), "no colour even without NO_COLOR"
    with Terminal(env={"NO_COLOR": "1"}) as t:
        equal(COLOUR.findall(t.running().out), [], "colours")


def idle():
    with Terminal() as t:
        t.running()
        cpu, start = t.cpu(), time.monotonic()
        got = b""
        while time.monotonic() < start + 2:
            got += t.read(0.5)
        equal(got, b"", "bytes while idle")
        assert (t.cpu() - cpu) / (time.monotonic() - start) < 0.05, "busy while idle"


# ---- keys and drawing


def stop_and_go():
    with Terminal(command=["bash", "--norc", "--noprofile", "-i"], env={"PS1": "ready$ "}) as t:
        t.until(lambda: "ready$" in t.text(), "the shell")
        t.send(f"{PROGRAM} --worker 'exec sleep 600'\n".encode())
        t.until(lambda: "ready$" not in t.text() and "mmtutor" in t.text() and
                t.out.count(b"?1049h") == 1, "the program")
        while t.read(QUIET):
            pass
        before = t.text()
        mark = len(t.out)
        t.send(b"\x1a")
        t.until(lambda: b"Stopped" in t.out[mark:], "the stop")
        assert "alternate screen" not in t.left() and "cursor" not in t.left(), t.left()
        t.resize(100, 30)
        mark = len(t.out)
        t.send(b"fg\n")
        t.until(lambda: b"?1049h" in t.out[mark:], "the screen")
        t.resize(80, 24)
        t.until(lambda: t.text() == before, "the same screen as before")
        t.send(b"q")
        t.until(lambda: b"?1049l" in t.out[mark:], "the end")


def stopped_from_outside():
    with Terminal() as t:
        before = t.running().text()
        os.kill(t.pid, signal.SIGSTOP)
        t.screen.reset()
        os.kill(t.pid, signal.SIGCONT)
        t.until(lambda: t.text() == before, "a full redraw")


def unknown_sequences():
    with Terminal() as t:
        before = t.running().text()
        for keys in (b"\x1b[<0;10;10M", b"\x1b[I", b"\x1b[5q", b"\x1b[?62;22c", b"\x1bOz"):
            t.send(keys)
        while t.read(QUIET):
            pass
        assert not t.ended(), "an unknown sequence ended it"
        equal(t.text(), before, "screen")


def wide_borders():
    with Terminal("lesson", "tiling", cols=120, answer=b"\x1b[1;3R") as t:
        t.until(lambda: t.answered, "the question about the width of a border")
        t.until(lambda: "|" in t.text() and "│" not in t.text(), "ASCII borders")
        mark = len(t.out)
        t.send(b"\x0c")
        t.until(lambda: len(t.out) > mark, "a redraw")
        t.settle()
        equal([b for b in t.out[mark:] if b > 127], [], "bytes above 127")


def steps_equal_redraw(lang, cols, rows):
    """After every key the screen is what a full redraw shows: nothing left over, nothing shifted. The
    worker stays silent, so that nothing changes between the two looks."""
    with Terminal("--worker", "exec sleep 600", "--lang", lang, "lesson", "tiling", env={"TERM": "tmux-256color"}, cols=cols,
                  rows=rows) as t:
        t.running()
        for key in b"njjnjkn..,\tnjLnLn?jqnpntgG\tnnnnp":
            t.send(bytes([key]))
            while t.read(QUIET):
                pass
            assert not t.ended(), f"ended at key {key}"
            by_steps = t.text()
            t.send(b"\x0c")
            while t.read(QUIET):
                pass
            assert t.text() == by_steps, (f"after key {bytes([key])!r} the screen was\n{by_steps}\n"
                                          f"and is, drawn again,\n{t.text()}")


def monkey(seed):
    """Random keys and sizes: it stays alive, and quits when told."""
    chance = random.Random(seed)
    keys = [bytes([c]) for c in range(32, 127) if chr(c) not in "qQ"]
    keys += [b"\r", b"\t", b"\x7f", b"\x0c", b"\x1b", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D",
             b"\x1b[5~", b"\x1b[6~", b"\x1bOP", b"\x1bOQ", b"\x1bOR", b"\x1bOS", b"\x1b[Z",
             "矩".encode(), b"\xff", b"\xe7\x9f"]
    with Terminal("lesson", "tiling") as t:
        t.running()
        for i in range(1500):
            t.send(chance.choice(keys) if i % 4 else b"n")
            if i % 50 == 0:
                t.resize(chance.randint(1, 200), chance.randint(1, 60))
            t.read(0.002)
            assert not t.ended(), f"seed {seed}: ended at key {i}: {t.out[-300:]!r}"
        t.resize(80, 24)
        t.settle().send(b"\x03")
        equal(t.wait(), 0, f"exit code, seed {seed}")
        equal(t.left(), [], "left switched on")


def bad_worker(command):
    """Whatever the worker is, keys are answered, its words are no escapes, and q quits."""
    with Terminal("--worker", command, "lesson", "tiling", mute=False, cols=100, rows=30) as t:
        t.until(lambda: "Tiling" in t.text(), "the lesson")
        t.send(b"?")
        t.until(lambda: "▸ Help" in t.text(), "the help")
        t.send(b"Q")
        equal(t.wait(), 0, "exit code")
        assert b"\x1b[31mred" not in t.out, "escapes of the worker reached the terminal"


def stuck_roofs():
    """A device that hangs while its roofs are measured: a run waits behind them, x ends both, and
    the next run works."""
    flag = os.path.join(tempfile.mkdtemp(dir=SCRATCH.name), "second")
    hello = '{"id":1,"ev":"hello","v":1,"devices":[{"id":"cpu","name":"Stuck"}]}'
    gone = '{"id":3,"ev":"cancelled"}'  # the run had not begun, so the worker can let it go
    worker = (f"[ -e {flag} ] && exec {PROGRAM} worker; : > {flag}; read a; echo '{hello}'; "
              f"read roofs; read run; read cancel; echo '{gone}'; exec sleep 600")
    with Terminal("--worker", worker, "lesson", "tiling", mute=False, cols=160, rows=45) as t:
        t.until(lambda: "Stuck" in t.text(), "the device")
        t.send(b"\x1bOS")
        t.send(b"s")
        t.until(lambda: "Run settings" in t.text(), "the settings")
        for _ in range(20):
            before = t.text()
            if "cpu/ikj" in before:
                break
            t.send(b"\x1bOC")
            t.until(lambda: t.text() != before, "another kernel")
        for _ in range(3):  # small: a sanitized kernel crawls
            t.send(b"\x1bOB" + 6 * b"\x7f" + b"64")
        t.send(b"\r")
        t.until(lambda: "64³" in t.text(), "the plan")
        t.send(b"r")
        t.until(lambda: "x cancel" in t.text(), "the run")
        t.send(b"x")
        t.until(lambda: "x cancel" not in t.text() and "measuring" not in t.text(), "the cancelled run")
        t.send(b"r")
        t.until(lambda: re.search("[GM]FLOP/s", t.text()) and "x cancel" not in t.text(), "a result")
        t.send(b"Q")
        equal(t.wait(), 0, "exit code")


BAD_WORKERS = {
    "talks without end": "yes",
    "sends bytes without end": "cat /dev/urandom",
    "fails": "false",
    "never answers": "exec sleep 600",
    "stops within a line": """printf '{"id":1,"ev":"resu'""",
    "sends a line of 10 MB": "head -c 10000000 /dev/zero | tr '\\0' x; echo; exec sleep 600",
    "sends escapes": r"printf '\033[31mred\n'; exit 1",
    "speaks the protocol without end": """yes '{"id":0,"ev":"print","text":"more"}'""",
    "dies at hello": "read a; kill -9 $$",
    "names a device with escapes": r"""read a; echo '{"id":1,"ev":"hello","v":1,"devices":"""
                                   r"""[{"id":"cpu","name":"\u001b[31mred"}]}'; exec sleep 600""",
}

TESTS = [
    *[("a worker that " + what, bad_worker, (command,)) for what, command in BAD_WORKERS.items()],
    ("roofs that hang are cancelled with the run", stuck_roofs, ()),
    ("q quits and restores", quit_by, (b"q",)),
    ("Q quits and restores", quit_by, (b"Q",)),
    ("Ctrl-C quits and restores", quit_by, (b"\x03",)),
    *[(f"{s.name} restores", ended_by, (s,))
      for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)],
    *[(f"{s.name} restores and reports", crash, (s,))
      for s in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)],
    ("SIGKILL leaves no worker", killed_leaves_no_worker, ()),
    ("a terminal that goes away ends it", pty_gone, ()),
    *[(f"resize to {c}x{r} and back", resized, (c, r))
      for c, r in ((1, 1), (2, 2), (10, 5), (200, 3), (3, 100), (250, 70))],
    *[(f"start at {c}x{r}", started, (c, r)) for c, r in ((1, 1), (20, 4), (39, 9), (250, 70))],
    ("a storm of resizes", resize_storm, ()),
    ("TERM unset is refused with a sentence", lambda: refused(env={"TERM": None}), ()),
    ("TERM=nosuchterm is refused with a sentence", lambda: refused(env={"TERM": "nosuchterm"}), ()),
    ("stdin=/dev/null is refused", lambda: refused(stdin=subprocess.DEVNULL), ()),
    ("stdout=file is refused, nothing written", stdout_is_a_file, ()),
    ("TERM=dumb gets no escapes", dumb_has_no_escapes, ()),
    *[(f"TERM={n}", shown_on, (n,))
      for n in ("xterm-256color", "xterm", "tmux-256color", "screen", "linux", "vt100")],
    ("LC_ALL=C gets no byte above 127", plain_locale, ()),
    ("Chinese without UTF-8 falls back and says so", chinese_needs_utf8, ()),
    ("NO_COLOR gets no colour", no_color, ()),
    ("idle: no bytes, no work", idle, ()),
    ("Ctrl-Z stops the job, fg brings it back", stop_and_go, ()),
    ("SIGSTOP and SIGCONT redraw", stopped_from_outside, ()),
    ("unknown escape sequences do nothing", unknown_sequences, ()),
    ("wide ambiguous glyphs: ASCII borders", wide_borders, ()),
    *[(f"steps equal a redraw, {lang} {c}x{r}", steps_equal_redraw, (lang, c, r))
      for lang, c, r in (("en", 80, 24), ("zh", 80, 24), ("zh", 150, 36))],
    *[(f"random keys and sizes, seed {n}", monkey, (n,)) for n in (1, 2)],
]


def run(test):
    name, function, args = test
    try:
        function(*args)
        return name, None
    except (AssertionError, OSError) as fault:
        return name, str(fault) or repr(fault)


def main():
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=6) as pool:
        for number, (name, fault) in enumerate(pool.map(run, TESTS), 1):
            print(f"{'not ok' if fault else 'ok'} {number} - {name}")
            for line in filter(str.strip, (fault or "").splitlines()):
                print("# " + line)
            failed += fault is not None
    print(f"1..{len(TESTS)}")
    sys.exit(1 if failed else 0)


main()
