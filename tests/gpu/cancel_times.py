#!/usr/bin/python3
"""How fast a long kernel lets go of the GPU: cancels a run in flight, waits for the worker's end, starts
another worker and waits for the verification of a small run. Prints milliseconds.
cancel_times.py PROGRAM [ROUNDS]"""
import json
import subprocess
import sys
import time


class Worker:
    def __init__(self, program):
        self.p = subprocess.Popen([program, 'worker'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, **request):
        self.p.stdin.write((json.dumps(request) + '\n').encode())
        self.p.stdin.flush()

    def until(self, *events):
        for line in self.p.stdout:
            ev = json.loads(line)
            if ev.get('ev') in events:
                return ev
        return None


def run(w, kernel, n, i):
    w.send(id=i, req='run', device='cuda:0', kernel=kernel, params={}, M=n, N=n, K=n, seconds=1,
           reference=False, cache='hot', counters=False, threads=0, isa='auto', seed=1)


def one(program):
    w = Worker(program)
    w.send(id=1, req='hello', v=1)
    w.until('hello')
    run(w, 'cuda/uncoalesced', 8192, 2)  # one launch takes over two seconds
    w.until('verify')
    time.sleep(0.5)
    t0 = time.monotonic()
    w.send(id=3, req='cancel', of=2)
    w.until('cancelled')
    t1 = time.monotonic()
    w.p.stdin.close() if w.p.poll() is None else None
    w.p.wait()
    t2 = time.monotonic()
    w = Worker(program)
    run(w, 'cuda/tiled', 1024, 1)
    ev = w.until('verify', 'error')
    t3 = time.monotonic()
    w.send(id=9, req='quit')
    w.p.wait()
    print('cancelled after %.0f ms, worker gone after %.0f ms, next verify event %.0f ms later: %s'
          % ((t1 - t0) * 1e3, (t2 - t0) * 1e3, (t3 - t2) * 1e3,
             ev.get('ok', ev.get('what'))), flush=True)


subprocess.run([sys.argv[1], 'run', 'cuda/tiled', '-M', '1024', '-N', '1024', '-K', '1024',
                '--seconds', '0.1'], stdout=subprocess.DEVNULL)  # the cubin is cached from here on
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
    one(sys.argv[1])
