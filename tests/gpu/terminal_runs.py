#!/usr/bin/python3
"""Runs kernels from the interface in a terminal (tmux), the way a learner does: settings, sizes, r. Prints
what the live pane showed. terminal_runs.py KERNEL[,KERNEL...] N[,N...]

MMTUTOR names the program, TOUR_SHOTS a directory for the screens."""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, '..', 'tty', 'tour_test.py')) as f:
    exec(f.read().split('def choose(')[0])  # Screen and its helpers


def settings(s, kernel, n):
    """Fills the form; False if the kernel cannot be chosen."""
    s.keys('s')
    if not s.wait(r'▸ kernel', 5):
        return False
    for _ in range(20):
        if re.search(rf'kernel +◂ {re.escape(kernel)} ▸', s.text()):
            break
        s.keys('Right')
        s.wait(rf'◂ {re.escape(kernel)} ▸', 0.3)
    else:
        return False
    for _ in range(3):
        s.keys('Down')
        for _ in range(10):
            s.keys('BSpace')
        s.typed(str(n))
    s.keys('Enter')
    return s.wait(rf'{re.escape(kernel)}.*{n}³', 5) is not None


def run(s, kernel, n):
    if not settings(s, kernel, n):
        return 'the settings were not taken'
    s.keys('r')
    if s.wait(r'Enter runs it', 0.5):
        s.keys('Enter')
    s.wait(r'●', 3)
    t = s.wait(r'\d (G|T)FLOP/s(?s:.*)kernel.[0-9a-f]{8}', 120)
    if SHOTS:
        with open(os.path.join(SHOTS, f'{kernel.replace("/", "_")}_{n}.txt'), 'w') as f:
            f.write(t or s.text())
    if not t:
        return 'no result'
    rate = re.search(r'([\d.]+ [GT]FLOP/s)\s*$', t.split('\n')[0])
    found = [m for m in re.findall(r'│ +([\d.]+ [GT]FLOP/s)', t)]
    return f"{found[-1] if found else rate} {'verified' if re.search('verify +✓', t) else 'NOT VERIFIED'}"


def main():
    with tempfile.TemporaryDirectory() as home:
        s = Screen(160, 45, home, 'lesson tiling:predict')
        s.wait('no idea', 20)
        s.wait(r'FP32 [\d.]+ [GT]FLOP/s', 40)  # the roofs first, so that nothing waits behind them
        s.keys('Enter')
        s.wait('no idea', 5)
        for kernel in sys.argv[1].split(','):
            for n in map(int, sys.argv[2].split(',')):
                print(f'{kernel:18} {n:5}  {run(s, kernel, n)}', flush=True)
        s.close()


main()
