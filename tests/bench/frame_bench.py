#!/usr/bin/python3
"""What the screen costs: time from exec to the last byte of the first frame, memory of the UI process, CPU and
bytes while nothing happens. frame_bench.py MMTUTOR. Exit code 1 only where a target is missed by a factor of 2."""
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./mmtutor")
ROUNDS, IDLE_S, LIMIT = 20, 3.0, 10.0
# No more bytes for this long: the frame is over. It is not part of the time.
QUIET = 0.05
COLS, ROWS = 100, 30
MUTE = ["--worker", "exec sleep 600"]
TICK = os.sysconf("SC_CLK_TCK")


class Screen:
    def __init__(self, home, *args):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        env = dict(PATH=os.environ["PATH"], HOME=home, TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.answered = False
        self.began = time.monotonic()
        self.process = subprocess.Popen([PROGRAM, *MUTE, *args], env=env, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True)
        os.close(slave)

    def read(self, seconds):
        """Bytes that come within so many seconds, and when the last of them did."""
        got, last, until = 0, None, time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                break
            data = os.read(self.master, 65536)
            last = time.monotonic()
            got += len(data)
            if not self.answered and b"\x1b[6n" in data:  # where the cursor is: as a terminal answers
                self.answered = True
                os.write(self.master, b"\x1b[1;2R")
            if not data:
                break
        return got, last

    def first_frame(self):
        """Milliseconds from exec to the last byte of the first frame."""
        last = None
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            got, at = self.read(QUIET)
            if got:
                last = at
            elif last:
                return (last - self.began) * 1e3
        sys.exit("frame_bench: no frame within %g s" % LIMIT)

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        """Resident KiB, and those of them that belong to this process alone."""
        kib = {}
        with open(f"/proc/{self.process.pid}/smaps_rollup") as f:
            for line in f:
                name, _, rest = line.partition(":")
                if rest.strip().endswith("kB"):
                    kib[name] = int(rest.split()[0])
        return kib["Rss"], kib["Private_Clean"] + kib["Private_Dirty"]

    def close(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        os.close(self.master)


def main():
    with tempfile.TemporaryDirectory() as home:
        times = []
        for _ in range(ROUNDS):
            s = Screen(home)
            times.append(s.first_frame())
            s.close()
        s = Screen(home, "lesson", "tiling:strips")
        s.first_frame()
        rss, own = s.memory()
        cpu = s.cpu_s()
        spoken, _ = s.read(IDLE_S)
        cpu = 100 * (s.cpu_s() - cpu) / IDLE_S
        s.close()
    rows = [
        ("first frame, median of %d" % ROUNDS, statistics.median(times), "ms", 20.0),
        ("resident memory", rss / 1024, "MiB", 16.0),
        ("CPU while idle", cpu, "%", 0.0),
        ("bytes while idle", spoken / IDLE_S, "B/s", 0.0),
    ]
    print(f"{COLS}x{ROWS}, {os.cpu_count()} CPUs; {own / 1024:.1f} MiB of the memory belong to this process alone")
    print(f"{'':28}{'measured':>10}{'target':>9}")
    missed = False
    for name, value, unit, target in rows:
        # One clock tick of CPU is the least that /proc can tell.
        allowed = 2 * target if target else (100 / TICK / IDLE_S if unit == "%" else 0)
        missed |= value > allowed
        note = "" if value <= target else "  over" if value <= allowed else "  MISSED"
        print(f"{name:28}{value:10.1f}{target:9.0f} {unit}{note}")
    return missed


sys.exit(main())
