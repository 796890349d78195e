#!/usr/bin/python3
"""The command line: run, doctor, roofline, help, and what they leave behind."""
import glob, json, os, pty, select, signal, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTUTOR = os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor"))
ASAN = os.environ.get("CFG") == "asan"
# The sanitizer would turn a kernel's crash into an exit of its own.
ENV = dict(os.environ, MMTUTOR_DATA=ROOT, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0")
WRONG = os.path.join(ROOT, "tests/fixtures/wrong/cpu")
LIMIT = 30.0
FAST = ["--seconds", "0.05", "--warmup", "0.01"]
tests = []


def test(f):
    tests.append(f)
    return f


def mm(*args, **kw):
    kw.setdefault("env", ENV)
    return subprocess.run([MMTUTOR, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT, text=True, **kw)


def run(*args, **kw):
    return mm("run", *args, *FAST, **kw)


def one(p, code=0):
    assert p.returncode == code, (p.returncode, p.stdout, p.stderr)
    lines = p.stdout.splitlines()
    assert len(lines) == 1, p.stdout
    return json.loads(lines[0])


@test
def a_run_is_verified():
    r = one(run("cpu/ikj", "-M", "37", "-N", "53", "-K", "29", "--json"))
    assert r["verify"]["ok"] and r["verify"]["checked"] == 37 * 53
    assert (r["M"], r["N"], r["K"], r["flop"]) == (37, 53, 29, 2 * 37 * 53 * 29)
    assert r["gflops"] > 0 and r["p10_ms"] <= r["median_ms"] <= r["p90_ms"]
    assert r["device"]["id"] == "cpu" and r["seed"] == 1


@test
def flop_at_1024_cubed():
    if ASAN:  # minutes under the sanitizer
        r = one(run("cpu/ikj", "-N", "32", "-K", "32", "--no-reference", "--json"))
        assert r["M"] == 1024 and r["flop"] == 2147483648 // 1024  # 2 * 1024 * 32 * 32
        return
    r = one(run("cpu/ikj", "--no-reference", "--json"))
    assert r["M"] == r["N"] == r["K"] == 1024 and r["flop"] == 2147483648


@test
def the_table_has_the_numbers():
    p = run("cpu/ikj", "-M", "64", "-N", "64", "-K", "64")
    assert p.returncode == 0
    for word in ("cpu/ikj", "M=64 N=64 K=64", "verify      right", "median", "FLOP/s", "measured"):
        assert word in p.stdout, (word, p.stdout)


@test
def bad_sizes_are_usage_with_the_range():
    for bad in ("0", "-1", "abc", "", " ", "1.5", "2147483648", "1e300", "nan", "inf", "0x10", "1/0", "12a", "1,5",
                "9" * 400, "(" * 100):
        for opt in ("-M", "-N", "-K"):
            p = run("cpu/ikj", opt, bad)
            assert p.returncode == 2 and not p.stdout, (opt, bad, p)
            assert opt in p.stderr and "from 1 to 2147483647" in p.stderr, (opt, bad, p.stderr)


@test
def sizes_may_be_expressions():
    assert one(run("cpu/ikj", "-M", "2^5", "-N", "4*8", "-K", "32", "--json"))["M"] == 32


@test
def bad_options_are_usage():
    for args in (["--seconds", "0"], ["--seconds", "x"], ["--seconds", "1e9"], ["--threads", "-1"], ["--threads", "1.5"],
                 ["--seed", "-1"], ["--seed", "1e30"], ["--isa", "sse"], ["--param", "T"], ["--param", "=3"],
                 ["--param", "T=x"], ["--param", "NOPE=3"], ["--device", "tpu:0"], ["--device", "cuda:x"],
                 ["--device", "cuda:0"], ["--warmup", "-1"], ["--nope"], ["-x"], ["--seconds"], ["-M"], ["extra"],
                 ["--sweep", "n"], ["--sweep", "n="], ["--sweep", "=1"], ["--sweep", "n=1:2"], ["--sweep", "n=64:32:x2"],
                 ["--sweep", "n=1:100:x1"], ["--sweep", "n=1:100:+0"], ["--sweep", "n=1:100000:+1"], ["--sweep", "n=0,4"],
                 ["--sweep", "q=1,2"], ["--sweep", "n=1.5,2"], ["--sweep", "n=1:2:y3"], ["--sweep", "n=a:b:x2"]):
        p = mm("run", "cpu/ikj", *args)
        assert p.returncode == 2 and not p.stdout, (args, p)
        assert p.stderr.startswith("mmtutor run: ") and len(p.stderr) > 30, (args, p.stderr)


@test
def a_wrong_value_of_a_parameter_names_the_right_ones():
    p = run("cpu/tiled", "--param", "T=7")
    assert p.returncode == 2 and "64" in p.stderr, p.stderr


@test
def an_unknown_kernel_has_neighbours():
    p = run("cpu/ikjj")
    assert p.returncode == 2 and "cpu/ikj" in p.stderr, p
    p = run("no/such/file.c")
    assert p.returncode == 2 and "no/such/file.c" in p.stderr, p


@test
def a_device_that_is_not_here_fails_with_the_next_step():
    p = run("cuda/naive", "--device", "cuda:63")
    assert p.returncode == 1 and not p.stdout and p.stderr.startswith("mmtutor run: "), p
    assert len(p.stderr.splitlines()) >= 2, p.stderr


@test
def a_sweep_prints_an_object_a_line():
    p = run("cpu/ikj", "--device", "null", "--sweep", "n=16:64:x2", "--json", "--no-reference")
    assert p.returncode == 0
    rows = [json.loads(l) for l in p.stdout.splitlines()]
    assert [(r["M"], r["N"], r["K"]) for r in rows] == [(n, n, n) for n in (16, 32, 64)]
    assert all("reference" not in r for r in rows)
    p = run("cpu/ikj", "--device", "null", "--sweep", "K=8:20:+4", "-M", "5", "-N", "7", "--json")
    assert [(r["M"], r["N"], r["K"]) for r in map(json.loads, p.stdout.splitlines())] == [(5, 7, k) for k in (8, 12, 16, 20)]
    p = run("cpu/ikj", "--device", "null", "--sweep", "n=48,16")
    assert p.returncode == 0 and len(p.stdout.splitlines()) == 3, p.stdout


@test
def every_wrong_kernel_is_found():
    files = sorted(glob.glob(os.path.join(WRONG, "*.c")))
    assert len(files) >= 8
    for f in files:
        name = os.path.basename(f)
        if name == "endless.c":
            continue
        p = run(f, "-M", "96", "-N", "96", "-K", "96", "--json")
        assert p.returncode == 1, (name, p)
        for line in p.stdout.splitlines():
            r = json.loads(line)
            assert r["verify"]["ok"] is False, name
            for key in ("gflops", "gbs", "median_ms"):
                assert key not in r, (name, key)
            assert not r.get("samples_ms"), name
        if not p.stdout:
            assert name in ("compile_error.c", "illegal_address.c"), (name, p.stderr)


@test
def the_table_of_a_wrong_kernel_has_no_speed():
    p = run(os.path.join(WRONG, "last_k_dropped.c"), "-M", "64", "-N", "64", "-K", "64")
    assert p.returncode == 1 and "WRONG" in p.stdout and "FLOP/s" not in p.stdout, p.stdout


@test
def a_crash_is_told():
    p = run(os.path.join(WRONG, "illegal_address.c"), "-M", "32", "-N", "32", "-K", "32")
    assert p.returncode == 1 and not p.stdout
    assert "signal 11" in p.stderr and "cpu/wrong_illegal_address" in p.stderr and "not its own" in p.stderr, p.stderr


@test
def a_compile_error_has_its_line():
    p = run(os.path.join(WRONG, "compile_error.c"))
    assert p.returncode == 1 and "error" in p.stderr and ":18:" in p.stderr, p.stderr


def children(pid):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                text = f.read()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(text.split(" ", 1)[0]))
    return found


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def poll(what, limit=LIMIT):
    until = time.monotonic() + limit
    while time.monotonic() < until:
        got = what()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError("not within %g s" % limit)


def busy(pid):
    """True once the process has burnt 0.3 s of CPU: the endless kernel runs."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > 0.3


def start_endless(extra=()):
    p = subprocess.Popen([MMTUTOR, "run", os.path.join(WRONG, "endless.c"), "-M", "32", "-N", "32", "-K", "32", *extra],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True)
    worker = poll(lambda: children(p.pid))[0]
    poll(lambda: busy(worker))
    return p, worker


@test
def ctrl_c_ends_an_endless_kernel():
    for sig in (signal.SIGINT, signal.SIGTERM):
        p, worker = start_endless()
        p.send_signal(sig)
        out, err = p.communicate(timeout=LIMIT)
        assert p.returncode == 1 and not out and "Cancelled" in err, (p.returncode, out, err)
        poll(lambda: not alive(worker))


@test
def a_killed_parent_leaves_no_worker():
    p, worker = start_endless()
    p.kill()
    p.communicate(timeout=LIMIT)
    poll(lambda: not alive(worker))


@test
def a_killed_parent_leaves_no_worker_behind_a_shell():
    p, shell = None, None
    p = subprocess.Popen([MMTUTOR, "run", os.path.join(WRONG, "endless.c"), "--worker", MMTUTOR + " worker; true"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True)
    shell = poll(lambda: children(p.pid))[0]
    worker = poll(lambda: children(shell))[0]
    poll(lambda: busy(worker))
    p.kill()
    p.communicate(timeout=LIMIT)
    poll(lambda: not alive(worker))


@test
def the_worker_can_be_a_command():
    r = one(run("cpu/ikj", "-M", "37", "-N", "53", "-K", "29", "--json", "--worker", "echo hello from a shell; exec '%s' worker" % MMTUTOR))
    assert r["verify"]["ok"]
    p = run("cpu/ikj", "--worker", "exit 5")
    assert p.returncode == 1 and "exit code 5" in p.stderr, p.stderr


def on_terminal(*args):
    """Exit code and all that the command wrote to a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(MMTUTOR, [MMTUTOR, *args], ENV)
    data, until = b"", time.monotonic() + LIMIT
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                got = os.read(fd, 65536)
            except OSError:
                break
            if not got:
                break
            data += got
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), data


@test
def progress_only_on_a_terminal_and_never_an_escape():
    p = run("cpu/ikj", "-M", "64", "-N", "64", "-K", "64", "--json")
    assert p.stderr == "" and "\x1b" not in p.stdout and "\r" not in p.stdout
    code, data = on_terminal("run", "cpu/ikj", "-M", "64", "-N", "64", "-K", "64", "--seconds", "0.2")
    assert code == 0 and b"compiling" in data and b"\x1b" not in data, data


@test
def escapes_in_a_kernels_output_do_not_reach_the_terminal():
    with open(os.path.join(WRONG, "writes_nothing.c")) as f:
        text = f.read()
    text = text.replace("return MM_OK;", 'fputs("\\033[31mred\\n", stderr); return MM_OK;').replace(
        '#include "mm_args.h"', '#include "mm_args.h"\n#include <stdio.h>')
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "loud.c")
        with open(path, "w") as f:
            f.write(text)
        p = run(path, "-M", "32", "-N", "32", "-K", "32")
    assert p.returncode == 1 and "red" in p.stderr and "\x1b" not in p.stderr, p


@test
def help_fits_80_by_24():
    for args in (["--help"], ["-h"], ["run", "--help"], ["roofline", "--help"], ["doctor", "--help"]):
        p = mm(*args)
        lines = p.stdout.splitlines()
        assert p.returncode == 0 and not p.stderr and "\x1b" not in p.stdout
        assert 3 < len(lines) <= 24, (args, len(lines))
        assert max(map(len, lines)) <= 80, (args, max(lines, key=len))


@test
def version_comes_first():
    p = mm("--version")
    assert p.returncode == 0 and p.stdout.splitlines()[0] == "mmtutor 0.1.0", p.stdout


@test
def unknown_commands_and_options_are_usage():
    for args in (["frobnicate"], ["--frob"], ["-q"], ["--lang"], ["--color=pink"], ["lesson"], ["lesson", "a", "b"],
                 ["worker", "x"], ["--lang", "fr"], ["--theme", "pink"], ["doctor", "x"], ["roofline", "x"],
                 ["roofline", "--device", "x"], ["doctor", "--x"], ["roofline", "--seconds", "-1"]):
        p = mm(*args)
        assert p.returncode == 2 and not p.stdout and p.stderr.startswith("mmtutor"), (args, p)


@test
def typed_escapes_do_not_come_back():
    for word in ("\x1b[31mx\x07", "--\x1b[31mx", "-\x1b"):
        for command in ([], ["check"], ["run"], ["frame"], ["read"], ["roofline"], ["doctor"], ["lesson"],
                        ["worker"], ["run", "cpu/ikj", "-M"], ["run", "cpu/ikj", "--param"], ["--lang"]):
            p = mm(*command, word)
            assert p.returncode in (1, 2), (command, word, p)
            assert "\x1b" not in p.stdout + p.stderr and "\x07" not in p.stderr, (command, word, p)


@test
def doctor_names_what_is_here():
    p = mm("doctor")
    assert p.returncode == 0 and "\x1b" not in p.stdout, p
    for word in ("CPU", "GPU", "x-ray", "CBLAS", "NVRTC", "locale", "state", "worker"):
        assert word in p.stdout, (word, p.stdout)
    o = json.loads(mm("doctor", "--json").stdout)
    for f in o["findings"]:
        assert f["state"] in ("ok", "absent", "broken") and f["text"], f
    p = mm("doctor", "--worker", "exit 1")
    assert p.returncode == 1 and "broken" in p.stdout, p


@test
def doctor_says_when_nothing_is_saved():
    env = dict(ENV, HOME="/dev/null/x", XDG_STATE_HOME="/dev/null/x")
    p = mm("doctor", env=env)
    assert p.returncode == 0 and "not saved" in p.stdout, p


@test
def roofline_measures_the_cpu():
    cache = tempfile.TemporaryDirectory()
    env = dict(ENV, XDG_CACHE_HOME=cache.name)
    p = mm("roofline", "--device", "cpu", "--seconds", "0.3", "--json", env=env)
    o = json.loads(p.stdout)
    assert p.returncode == 0 and o["bandwidth"][0]["level"] == "dram" and o["compute"][0]["unit"] == "fma", o
    assert o["bandwidth"][0]["gbs"] > 0 and o["compute"][0]["gflops"] > 0 and o["points"] == [], o
    # From now on runs at the same thread count are held against it.
    r = one(run("cpu/ikj", "-M", "128", "-N", "128", "-K", "128", "--json", env=env))
    assert r["roof"]["unit"] == "FLOP/s" and abs(r["roof"]["value"] / 1e9 / o["compute"][0]["gflops"] - 1) < 1e-6, r["roof"]
    assert abs(r["roof"]["share"] - r["gflops"] * 1e9 / r["roof"]["value"]) < 1e-6, r["roof"]
    assert "roof" not in one(run("cpu/ikj", "-M", "64", "-N", "64", "-K", "64", "--json", env=dict(env, XDG_CACHE_HOME="/dev/null/x")))


@test
def roofline_fails_whole():
    p = mm("roofline", "--device", "cuda:63")
    assert p.returncode == 1 and not p.stdout, p


@test
def output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w") as full:
        p = subprocess.run([MMTUTOR, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 1 and p.stderr, p


@test
def a_decimal_comma_changes_nothing():
    r = one(run("cpu/ikj", "-M", "16", "-N", "16", "-K", "16", "--json", env=dict(ENV, LC_ALL="de_DE.UTF-8")))
    assert r["verify"]["ok"]


def main():
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        start = time.monotonic()
        try:
            f()
            print("ok %d - %s" % (i, f.__name__))
        except Exception as e:
            print("not ok %d - %s" % (i, f.__name__))
            print("# %s: %s" % (type(e).__name__, str(e)[:800]))
        if os.environ.get("TIMES"):
            print("# %.1f s" % (time.monotonic() - start))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
