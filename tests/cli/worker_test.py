#!/usr/bin/python3
"""The worker's protocol (docs/contracts.md 4), spoken raw: what it answers, and what it survives."""
import array, fcntl, json, os, random, select, signal, subprocess, sys, termios, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTUTOR = os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor"))
ENV = dict(os.environ, MMTUTOR_DATA=ROOT)
LIMIT = 20.0
tests = []


def test(f):
    tests.append(f)
    return f


class Worker:
    def __init__(self):
        self.p = subprocess.Popen([MMTUTOR, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=ENV)
        self.buf = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
        for f in (self.p.stdin, self.p.stdout, self.p.stderr):
            try:
                f.close()
            except OSError:
                pass
        self.p.wait()

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, **o):
        self.raw(json.dumps(o).encode() + b"\n")

    def event(self, limit=LIMIT):
        """The next event; None at the end of the output."""
        until = time.monotonic() + limit
        while b"\n" not in self.buf:
            left = until - time.monotonic()
            assert left > 0, "no answer within the limit"
            if select.select([self.p.stdout], [], [], left)[0]:
                got = os.read(self.p.stdout.fileno(), 65536)
                if not got:
                    assert not self.buf, "the output ends within a line"
                    return None
                self.buf += got
        line, self.buf = self.buf.split(b"\n", 1)
        assert len(line) <= 1 << 20, "a line over 1 MiB"
        return json.loads(line.decode("utf-8"))

    def until_end(self, id):
        events = []
        while True:
            e = self.event()
            assert e is not None, "the worker ended"
            if e["id"] == id:
                events.append(e)
                if e["ev"] in ("result", "error", "cancelled", "hello"):
                    return events

    def ended(self, limit=LIMIT):
        self.p.wait(limit)
        return self.p.returncode


def held(fd):
    """Bytes that wait in the pipe."""
    n = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, n)
    return n[0]


RUN = {"req": "run", "device": "null", "kernel": "cpu/ikj", "M": 37, "N": 53, "K": 29, "seconds": 0.1,
       "warmup": 0.01}


def source(name):
    with open(os.path.join(ROOT, "tests/fixtures/wrong/cpu", name)) as f:
        return f.read()


@test
def hello_lists_devices_and_kernels():
    with Worker() as w:
        w.send(id=1, req="hello", v=1)
        e = w.event()
        assert e["ev"] == "hello" and e["v"] == 1 and e["id"] == 1
        assert any(d["id"] == "cpu" for d in e["devices"])
        assert len(e["kernels"]["cpu/ikj"]) == 64
        assert "tools" not in e


@test
def a_run_ends_with_one_result():
    with Worker() as w:
        w.send(id=5, **RUN)
        ev = w.until_end(5)
        names = [e["ev"] for e in ev]
        assert names[-1] == "result" and "verify" in names
        assert [n for n in names if n in ("result", "error", "cancelled")] == ["result"]
        r = ev[-1]
        assert r["schema"] == 1 and r["kernel"] == "cpu/ikj" and r["flop"] == 2 * 37 * 53 * 29
        w.send(id=6, req="list")
        assert [e["ev"] for e in w.until_end(6)] == ["result"]


@test
def samples_come_at_most_20_times_a_second():
    with Worker() as w:
        w.send(id=1, **dict(RUN, device="cpu", seconds=1.0))
        times, n = [], 0
        while True:
            e = w.event()
            if e["ev"] == "sample":
                times.append(time.monotonic())
                n += len(e["ms"])
            if e["ev"] in ("result", "error"):
                break
        assert e["ev"] == "result", e
        assert 0 < len(times) <= 20 * (times[-1] - times[0]) + 2, (len(times), times[-1] - times[0])
        assert n <= len(e["samples_ms"])


@test
def bad_lines_are_errors_and_the_worker_lives():
    bad = [b"garbage", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b'{"id":1}', b'{"id":"x","req":"hello","v":1}',
           b'{"id":0,"req":"list"}', b'{"id":-1,"req":"list"}', b'{"id":1.5,"req":"list"}', b'{"id":1e300,"req":"list"}',
           b'{"id":1,"req":7}', b'{"id":1,"req":null}', b'{"id":1,"req":"frob"}', b'{"id":1,"req":"hello"}',
           b'{"id":1,"req":"hello","v":2}', b'{"id":1,"req":"hello","v":"1"}', b'{"id":1,"req":"cancel"}',
           b'{"id":1,"req":"cancel","of":"2"}', b'{"id":1,"req":"cancel","of":77}', b"\xff\xfe\x00", b'{"id":1,"req":"li\x00st"}',
           b'{"id":1,"req":"xray"}', b'{"id":1,"req":"counters"}', b'{"id":1,"req":"check"}',
           b'{"id":1,"id":2,"req":"list"}', b"[" * 100000, b'{"a":' * 5000, b"x" * (1 << 20)]
    with Worker() as w:
        for line in bad:
            w.raw(line + b"\n")
            e = w.event()
            assert e and e["ev"] == "error", (line[:60], e)
            assert e["code"] and e["what"].rstrip().endswith("."), e
        w.raw(b"\n\n")
        w.send(id=9, req="list")
        assert w.until_end(9)[-1]["ev"] == "result"


@test
def bad_run_fields_are_errors():
    bad = [{"M": 0}, {"M": -5}, {"M": 1.5}, {"M": "64"}, {"M": None}, {"M": 2 ** 31}, {"N": 1e300}, {"K": []},
           {"device": 7}, {"device": "cuda"}, {"device": "tpu:0"}, {"device": "cuda:99999999999999999999999999999999999999"},
           {"kernel": None}, {"kernel": "cpu/ikjj"}, {"kernel": ""}, {"source": 5}, {"source": ""}, {"source": "int x;"},
           {"source": "/* mmtutor {"}, {"target": "fpga"}, {"params": []}, {"params": {"T": "16"}}, {"params": {"NOPE": 1}},
           {"seconds": -1}, {"seconds": "2"}, {"seconds": 1e9}, {"cache": "warm"}, {"cache": 1}, {"threads": -1},
           {"threads": 0.5}, {"isa": "sse9"}, {"isa": 4}, {"seed": -1}, {"seed": 1e300}, {"reference": "yes"},
           {"counters": True}, {"warmup": -1}, {"prediction": "fast"}]
    with Worker() as w:
        for i, change in enumerate(bad):
            w.send(**dict(RUN, id=i + 1, **change))
            e = w.until_end(i + 1)[-1]
            assert e["ev"] == "error" and e["what"], (change, e)
        w.send(id=1000, **RUN)
        assert w.until_end(1000)[-1]["ev"] == "result"


@test
def a_line_over_one_mebibyte_is_refused_and_dropped():
    with Worker() as w:
        big = b'{"id":1,"req":"list","x":"' + b"y" * (3 << 20)
        w.raw(big)
        e = w.event()
        assert e["ev"] == "error" and "1 MiB" in e["what"], e
        w.raw(b'"}\n')
        w.send(id=2, req="list")
        e = w.event()
        assert e["id"] == 2 and e["ev"] == "result", e


@test
def random_bytes_are_survived():
    rng = random.Random(7)
    seed = json.dumps(dict(RUN, id=1)).encode()
    with Worker() as w:
        for _ in range(300):
            b = bytearray(seed)
            for _ in range(rng.randint(1, 6)):
                b[rng.randrange(len(b))] = rng.choice(b'{}[]",:0eE-.\\u\x01\xc3\xff ntf')
            line = bytes(b).replace(b"\n", b" ").replace(b"quit", b"quiz")
            w.raw(line + b"\n")
            e = w.event()
            while e and e["ev"] not in ("error", "result"):
                e = w.event()
            assert e, line


@test
def cancel_answers_both():
    with Worker() as w:
        w.send(id=1, **dict(RUN, seconds=600))
        while w.event()["ev"] != "sample":
            pass
        w.send(id=2, req="cancel", of=1)
        ends = []
        while len(ends) < 2:
            e = w.event()
            if e["ev"] in ("cancelled", "result", "error"):
                ends.append((e["id"], e["ev"]))
        assert ends == [(1, "cancelled"), (2, "result")], ends
        w.send(id=3, **RUN)
        assert w.until_end(3)[-1]["ev"] == "result"


@test
def cancel_of_a_waiting_request():
    with Worker() as w:
        w.send(id=1, **dict(RUN, seconds=600))
        w.send(id=2, **RUN)
        w.send(id=2, **RUN)
        w.send(id=3, req="cancel", of=2)
        seen = []
        while ("result", 3) not in seen:
            e = w.event()
            if e["id"] in (2, 3):
                seen.append((e["ev"], e["id"]))
        assert seen == [("error", 2), ("cancelled", 2), ("result", 3)], seen


@test
def an_endless_kernel_ends_with_its_process():
    with Worker() as w:
        w.send(id=1, **dict(RUN, device="cpu", kernel="cpu/wrong_endless", source=source("endless.c")))
        w.send(id=2, req="cancel", of=1)
        e = w.until_end(1)[-1]
        assert e["ev"] == "cancelled", e
        if "leaving" in e:
            w.ended()
        else:  # the cancel was read before the kernel began
            w.send(id=3, req="list")
            assert w.until_end(3)


@test
def the_end_of_input_ends_it_within_a_run():
    with Worker() as w:
        w.send(id=1, **dict(RUN, device="cpu", kernel="cpu/wrong_endless", source=source("endless.c")))
        while w.event()["ev"] != "compile":
            pass
        w.p.stdin.close()
        assert w.ended() == 0


@test
def quit_answers_and_ends():
    with Worker() as w:
        w.send(id=1, **dict(RUN, seconds=600))
        while w.event()["ev"] != "sample":
            pass
        w.send(id=2, req="quit")
        ends, e = [], w.event()
        while e:
            if e["ev"] in ("cancelled", "result", "error"):
                ends.append((e["id"], e["ev"]))
            e = w.event()
        assert ends == [(1, "cancelled"), (2, "result")], ends
        assert w.ended() == 0


PRINTS = """/* mmtutor {
 "schema": 1, "id": "cpu/prints", "op": "gemm",
 "dtype": {"A": "f32", "B": "f32", "C": "f32", "acc": "f32"},
 "traffic": {"dram_min": "4*(M*K+K*N+M*N)"}, "flop": "2*M*N*K"
} */
#include "mm_args.h"
#include <stdio.h>
#include <unistd.h>
int cpu_prints(const struct mm_args *a) {
  static int once;
  if (!once++) {
    BODY
  }
  for (int64_t i = 0; i < a->M; i++)
    for (int64_t j = 0; j < a->N; j++) {
      float s = 0;
      for (int64_t k = 0; k < a->K; k++)
        s += a->A[i * a->lda + k] * a->B[k * a->ldb + j];
      a->C[i * a->ldc + j] = s;
    }
  return 0;
}
"""


def printed(body):
    with Worker() as w:
        w.send(id=1, **dict(RUN, device="cpu", kernel="cpu/prints", source=PRINTS.replace("BODY", body)))
        ev = w.until_end(1)
        assert ev[-1]["ev"] == "result" and ev[-1]["verify"]["ok"], ev[-1]
        assert w.p.poll() is None
        return "".join(e["text"] for e in ev if e["ev"] == "print")


@test
def what_a_kernel_prints_is_a_print_event():
    text = printed(r'printf("{\"id\":1,\"ev\":\"result\"}\n"); fprintf(stderr, "to stderr\n");')
    assert '{"id":1,"ev":"result"}\n' in text and "to stderr\n" in text, text


@test
def printed_bytes_are_cleaned():
    text = printed(r'fputs("a\033[31mb\xff" "c\xe4\xbd", stderr); fflush(stderr); usleep(20000); fputs("\xa0z\n", stderr);')
    assert "\x1b" not in text and "a" in text and "b" in text and "\u4f60z" in text, ascii(text)


@test
def a_flood_of_prints_is_cut():
    text = printed(r'for (int i = 0; i < 40000; i++) printf("line %d of a flood of lines\n", i);')
    assert text.startswith("line 0 of") and "More was printed" in text and len(text) < 400000, len(text)


@test
def reads_of_stdin_find_nothing():
    text = printed(r'printf("got %d\n", (int)getchar());')
    assert "got -1" in text, text


@test
def an_answer_being_written_is_not_cut_by_its_cancel():
    """Nobody reads, the pipe is full, and the answer that waits for room is cancelled: the request
    has ended already, so the worker must neither cut the line nor leave without a word."""
    with Worker() as w:
        w.send(id=10, req="list")
        while b"\n" not in w.buf:
            w.buf += os.read(w.p.stdout.fileno(), 65536)
        size, w.buf = len(w.buf), b""
        room = fcntl.fcntl(w.p.stdout.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        stuck = 11 + room // size
        for i in range(11, stuck + 1):
            w.send(id=i, req="list")
        until = time.monotonic() + LIMIT
        while held(w.p.stdout.fileno()) < size * (stuck - 11):
            assert time.monotonic() < until, "the pipe does not fill"
            time.sleep(0.005)
        w.send(id=99, req="cancel", of=stuck)
        until = time.monotonic() + 0.4
        while w.p.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        assert w.p.poll() is None, "the worker left"
        assert [w.event()["id"] for _ in range(11, stuck + 1)] == list(range(11, stuck + 1))
        assert w.event()["id"] == 99
        w.send(id=100, req="hello", v=1)
        assert w.event()["ev"] == "hello"


@test
def roofs_are_cancelled_between_launches():
    with Worker() as w:
        for i in (1, 3):
            w.send(id=i, req="roofs", device="null", seconds=600)
            w.send(id=i + 1, req="cancel", of=i)
            ev = w.until_end(i)
            assert [e["ev"] for e in ev] == ["cancelled"], ev
            if ev[0].get("leaving"):
                return
            assert w.event()["id"] == i + 1


@test
def started_without_descriptors_it_says_so():
    p = subprocess.run(["/bin/sh", "-c", 'exec "$0" worker <&- >&-', MMTUTOR], stderr=subprocess.PIPE,
                       timeout=LIMIT)
    assert p.returncode == 1 and b"descriptors" in p.stderr, p


def main():
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        try:
            f()
            print("ok %d - %s" % (i, f.__name__))
        except Exception as e:
            print("not ok %d - %s" % (i, f.__name__))
            print("# %s: %s" % (type(e).__name__, str(e)[:800]))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
