#!/usr/bin/python3
"""mmtutor xray: its page, its JSON, its exit codes, and learners' files of every kind. TAP.

The page is tested with a worker that answers from a file (tests/fixtures/xray/worker.py); the rest runs
PTX, which needs no compiler, and CUDA C++ where NVRTC is here."""
import copy, fcntl, json, os, pty, re, select, struct, subprocess, sys, tempfile, termios, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTUTOR = os.path.abspath(os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor")))
FIXTURES = os.path.join(ROOT, "tests/fixtures/xray")
WRONG = os.path.join(ROOT, "tests/fixtures/wrong/cuda")
LEARNER = os.path.join(ROOT, "tests/fixtures/learner")
ENV = dict(os.environ, MMTUTOR_DATA=ROOT, LC_ALL="C.UTF-8", TERM="xterm-256color")
LIMIT = 120.0
LAUNCH = ["--grid", "2", "--block", "64", "--op", "none"]
scratch = tempfile.TemporaryDirectory()
tests = []


class Skip(Exception):
    pass


def test(f):
    tests.append(f)
    return f


def xray(*args, **kw):
    kw.setdefault("env", ENV)
    return subprocess.run([MMTUTOR, "xray", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT, text=True, **kw)


def file(name, text):
    path = os.path.join(scratch.name, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def need_nvrtc():
    for f in json.loads(subprocess.run([MMTUTOR, "doctor", "--json"], stdout=subprocess.PIPE, env=ENV).stdout)["findings"]:
        if f["name"] == "NVRTC" and f["state"] != "ok":
            raise Skip("NVRTC is not here")


# ---- the page, from a result in a file

TILED = open(os.path.join(ROOT, "src/kernels/cuda/tiled.cu"), encoding="utf-8").read().split("\n")


def at(mark):
    return next(i + 1 for i, line in enumerate(TILED) if "//@ " + mark in line)


def result():
    load = dict(gld_requests=16384, gld_sectors=65536, gld_wavefronts=16384, sts_requests=16384, sts_wavefronts=16384)
    counts = {at("load_a"): load, at("load_b"): load,
              at("fma"): dict(lds_requests=655360, lds_wavefronts=786432, ffma=16777216),
              at("store"): dict(gst_requests=2048, gst_sectors=8192, gst_wavefronts=2048)}
    lines = [dict(file="tiled.cu", line=i, text=TILED[i - 1], **(dict(counted=True, **counts[i]) if i in counts else {}))
             for i in range(at("position") - 4, at("store") + 2)]
    mix = dict(lds=[0, 0, 8], sts=[2, 0, 0], ldg=[2, 0, 0], stg=[1, 0, 0], ffma=32)
    return dict(schema=1, kernel="cuda/tiled", params={"T": 32}, M=256, N=256, K=256, flop=2 * 256**3, device={"id": "xray"},
                verify=dict(ok=True, max_error=1.3e-7, bound=7.6e-6, checked=65536), entry="matmul", op="gemm", dtype="f32",
                arch="compute_90", compiler="NVRTC 13.0", grid=[8, 8, 1], block=[32, 32, 1], smem=0, finished=True,
                sampled=False, blocks=64, blocks_executed=64, gld_requests=32768, gld_sectors=131072, gld_wavefronts=32768,
                gst_requests=2048, gst_sectors=8192, gst_wavefronts=2048, lds_requests=655360, lds_wavefronts=786432,
                lds_conflicts=0, sts_requests=32768, sts_wavefronts=32768, sts_conflicts=0, ffma=16777216, fadd=0, fmul=0,
                other_flop=0, warp_instructions=0, barriers=1024, divergent_branches=0, flop_executed=2 * 256**3,
                registers=38, shared_bytes=8192, spill_bytes=0, occupancy=0.5, blocks_per_sm=1, occupancy_limit="registers",
                compile_ms=85.2, run_ms=121, certificate=dict(level="exact", machine=mix, sass=copy.deepcopy(mix)),
                problems=[], lines=lines, left_out=[])


def wrong():
    r = result()
    r["problems"] = [
        dict(kind="race_shared", severity="error", file="tiled.cu", line=at("load_a"), block=[0, 0, 0], thread=[0, 1, 0],
             detail="Thread (0, 1, 0) writes shared memory at byte 128, which thread (31, 0, 0) read at line %d with no "
                    "__syncthreads between them." % at("fma"), times=1792),
        dict(kind="unsupported", severity="error", block=[0, 0, 0], thread=[0, 0, 0],
             detail="Textures are not supported: tex.2d (PTX line 7).", times=1)]
    r["left_out"] = [dict(line=90, name="main", why="host code")]
    r["verify"] = dict(ok=False, max_error=0.3, bound=7.6e-6, checked=65536, note="C[3,17] is NaN")
    return r


def page(r, *args, **kw):
    path = file("result.json", json.dumps(r))
    worker = "%s %s %s" % (sys.executable, os.path.join(FIXTURES, "worker.py"), path)
    return xray("cuda/tiled", "--worker", worker, *args, **kw)


def columns(line):
    return sum(2 if "\u2e80" <= c <= "\uffef" else 1 for c in line)


@test
def the_page_of_a_right_kernel():
    p = page(result())
    assert p.returncode == 0 and not p.stderr, p
    for words in ("kernel      cuda/tiled  M=256 N=256 K=256 T=32  gemm f32",
                  "launch      matmul<<<(8, 8), (32, 32)>>>: 64 blocks of 1,024 threads, all run",
                  "NVRTC 13.0 for compute_90; 38 registers, 8,192 B shared, no spills", "occupancy   50 %: 1 block fits on an SM",
                  "global loads     32,768  131,072  4.00      32,768  1.00",
                  "shared loads    655,360                    786,432  1.20          0", "33,554,432 executed, 33,554,432 needed",
                  "certified   exact", "not milliseconds", "No problem was found",
                  "verify      right; error 1.3e-07, bound 7.6e-06; 65,536 elements checked"):
        assert words in p.stdout, (words, p.stdout)
    fma = next(l for l in p.stdout.splitlines() if " %d  " % at("fma") in l)
    assert fma.startswith(" > ") and fma.split()[-3:] == ["655k", "1.20", "100%"], fma
    assert "//@" not in p.stdout and "\x1b" not in p.stdout and all(ord(c) < 128 for c in p.stdout), p.stdout


@test
def the_page_of_a_wrong_kernel():
    p = page(wrong())
    assert p.returncode == 1, p
    out = p.stdout
    assert "2 problems\n\nx Race in shared memory  tiled.cu:%d\n" % at("load_a") in out, out
    assert "Textures are not supported" in out and "WRONG: C[3,17] is NaN" in out and "left out    1 piece of" in out, out
    quotes = out[out.index("x Race"):].splitlines()[1:3]
    assert "As[ty][tx] =" in quotes[0] and "acc +=" in quotes[1], quotes
    assert "met 1,792 times" in out and "__syncthreads() between the two lines" in out, out
    assert "line 90: main, host code" in page(wrong(), "--verbose").stdout


@test
def warnings_alone_are_no_failure():
    r = result()
    r["problems"] = [dict(kind="race_warp", severity="warning", block=[0, 0, 0], thread=[0, 0, 0], detail="x.", times=1)]
    p = page(r)
    assert p.returncode == 0 and "Race within a warp (warning)" in p.stdout, p


@test
def no_line_is_wider_than_the_page():
    for width in (60, 80, 100, 200):
        for lang in ("en", "zh"):
            p = page(wrong(), "--width", str(width), "--lang", lang, "--verbose")
            wide = [l for l in p.stdout.splitlines() if columns(l) > max(width, 72)]
            assert not wide, (width, lang, wide)
            assert not [l for l in p.stdout.splitlines() if l.endswith(" ")], (width, lang)


@test
def in_chinese():
    p = page(wrong(), "--lang", "zh")
    for words in ("2 个问题", "shared memory 竞争", "线程 (0, 1, 0) 写 shared memory 第 128 字节", "验证        错误"):
        assert words in p.stdout, (words, p.stdout)
    assert "Thread" not in p.stdout and "；" in p.stdout, p.stdout
    assert all(ord(c) < 128 or ord(c) > 0x2fff for c in page(wrong(), "--lang", "zh", "--ascii").stdout)


@test
def ptx_level_is_said():
    r = result()
    r["certificate"] = dict(level="ptx_level", machine=dict(r["certificate"]["machine"], lds=[32, 0, 8]), sass=r["certificate"]["sass"])
    p = page(r)
    assert "shared loads, PTX level" in p.stdout and "32 0 8 here, 0 0 8" in p.stdout, p.stdout
    del r["certificate"]
    assert "certified   no: no machine code" in page(r).stdout


@test
def sampled_and_unfinished_are_said():
    r = result()
    r.update(sampled=True, blocks=16384, blocks_executed=4)
    assert "16,384 blocks of 1,024 threads, 4 of them run" in " ".join(page(r).stdout.split())
    r.update(finished=False, sampled=False)
    del r["verify"]
    p = page(r)
    assert p.returncode == 1 and "not checked: the kernel did not run to its end" in p.stdout, p


@test
def json_is_one_object_with_every_field():
    for r in (result(), wrong()):
        p = page(r, "--json")
        o = json.loads(p.stdout)
        assert p.stdout.count("\n") == 1 and p.returncode == (0 if r["verify"]["ok"] else 1), p
        for key, value in r.items():
            if key in ("lines", "problems", "device", "verify"):
                continue
            assert o[key] == value, (key, o.get(key), value)
        assert [l["line"] for l in o["lines"]] == [l["line"] for l in r["lines"]]
        assert o["problems"] == r["problems"], (o["problems"], r["problems"])


@test
def a_trace_goes_to_a_file():
    path = os.path.join(scratch.name, "events")
    p = page(result(), "--trace", path, "--trace-block", "1,2")
    with open(path) as f:
        assert [json.loads(l)["op"] for l in f] == ["ld", "st"]
    assert "2 events of block (1, 2, 0) are in" in p.stdout, p.stdout
    assert "\x1b" not in page(result(), "--trace", path + "\x1b[31m").stdout
    p = page(result(), "--trace", "/nowhere/x")
    assert p.returncode == 1 and "/nowhere/x" in p.stderr and not p.stdout, p
    p = page(result(), "--trace", "/dev/full")
    assert p.returncode == 1 and "could not be written" in p.stderr, p
    # More than a buffer: the write fails long before the file is closed.
    p = xray("cuda/naive", "-M", "64", "-N", "64", "-K", "64", "--trace", "/dev/full")
    assert p.returncode == 1 and "could not be written" in p.stderr and "events of block" not in p.stdout, p


@test
def a_limit_of_files_is_a_sentence():
    path = file("limited", "")
    p = subprocess.run(["/bin/sh", "-c", 'ulimit -f 0; exec "$0" xray cuda/naive -M 64 -N 64 -K 64 --trace "$1" 2>&1 | cat',
                        MMTUTOR, path], env=ENV, stdout=subprocess.PIPE, text=True, timeout=60)
    assert "could not be written" in p.stdout, p


def on_a_terminal(*args, env=ENV):
    """What is written to a terminal of 100 columns, and the exit code."""
    path = file("result.json", json.dumps(wrong()))
    pid, fd = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
            os.execve(MMTUTOR, [MMTUTOR, "xray", "cuda/tiled", "--worker",
                                "%s %s %s" % (sys.executable, os.path.join(FIXTURES, "worker.py"), path), *args], env)
        finally:
            os._exit(127)
    out, end = b"", time.monotonic() + LIMIT
    while time.monotonic() < end:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(fd)
    return out.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@test
def colours_and_glyphs_on_a_terminal_alone():
    out, code = on_a_terminal()
    assert code == 1 and "\x1b[1;31m" in out and "✗" in out and "▸" in out, out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert "\x1b" not in plain and max(columns(l) for l in plain.replace("\r\n", "\n").split("\r")[-1].split("\n")) <= 100, plain
    for args, env in ((["--no-color"], ENV), (["--color=never"], ENV), ([], dict(ENV, NO_COLOR="1")), ([], dict(ENV, TERM="dumb"))):
        out, code = on_a_terminal(*args, env=env)
        assert "\x1b[" not in out, (args, out)
    out, code = on_a_terminal("--ascii")
    assert all(ord(c) < 128 for c in out) and "\x1b[1;31m" in out, out


# ---- usage

@test
def bad_options_are_usage():
    for args in (["-M", "0"], ["-N", "x"], ["-K", "1.5"], ["--op", "matmul"], ["--dtype", "int"], ["--layout", "D=row"],
                 ["--layout", "A"], ["--layout", "A=diag"], ["--define", ""], ["--define", "=3"], ["--seed", "0"],
                 ["--seconds", "0"], ["--width", "59"], ["--lang", "fr"], ["--color=pink"], ["--trace", ""],
                 ["--trace-block", "x"], ["--trace-block", "1,"], ["--trace-block", "1,2,3,4"], ["--trace-block", "-1"],
                 ["--nope"], ["-x"], ["-M"], ["extra"]):
        p = xray("cuda/tiled", *args)
        assert p.returncode == 2 and not p.stdout, (args, p)
        assert p.stderr.startswith("mmtutor xray: ") and len(p.stderr) > 30, (args, p.stderr)
    p = xray()
    assert p.returncode == 2 and "mmtutor xray --list" in p.stderr, p


@test
def what_is_no_kernel_and_no_file():
    unreadable = file("unreadable.cu", "x")
    os.chmod(unreadable, 0)
    for name, words in (("no/such.cu", "no/such.cu"), (scratch.name + "/", "directory"), ("cuda/tilde", "cuda/tiled"),
                        ("cpu/ikj", "CPU kernel"), ("\x1b[31m", "no kernel"), ("\x1b.cu", "Cannot open"), (file("zero.cu", b"\x7fELF\0\0\1"), "no text"),
                        (file("empty.cu", ""), "empty"), (file("blank.ptx", "\n \n"), "empty"), ("/dev/null", "pipe or a device"),
                        *([] if os.access(unreadable, os.R_OK) else [(unreadable, "ermission")])):
        p = xray(name)
        assert p.returncode == 2 and words in p.stderr and not p.stdout and "\x1b" not in p.stderr, (name, p)


@test
def the_list_names_cuda_kernels_alone():
    p = xray("--list")
    names = [l.split()[0] for l in p.stdout.splitlines()]
    assert p.returncode == 0 and "cuda/tiled" in names and all(n.startswith("cuda/") for n in names), names


@test
def a_worker_that_ends_is_a_failure():
    p = xray("cuda/tiled", "--worker", "exit 3")
    assert p.returncode == 1 and p.stderr.startswith("mmtutor xray: ") and not p.stdout, p


@test
def output_that_cannot_be_written_is_a_failure():
    path = file("result.json", json.dumps(result()))
    worker = "%s %s %s" % (sys.executable, os.path.join(FIXTURES, "worker.py"), path)
    with open("/dev/full", "w") as full:
        p = subprocess.run([MMTUTOR, "xray", "cuda/tiled", "--worker", worker], stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.PIPE, text=True, env=ENV, timeout=LIMIT)
    assert p.returncode == 1 and "could not be written" in p.stderr, p
    p = subprocess.run("'%s' xray cuda/tiled --worker '%s' >&-" % (MMTUTOR, worker), shell=True, stderr=subprocess.PIPE,
                       text=True, env=ENV, timeout=LIMIT)
    assert p.returncode == 1 and "could not be written" in p.stderr, p


# ---- the real machine, on PTX

def one(p, code=0):
    assert p.returncode == code, (p.returncode, p.stdout[-2000:], p.stderr)
    return json.loads(p.stdout)


@test
def a_built_in_kernel_counts_what_the_hardware_counts():
    r = one(xray("cuda/tiled", "-M", "256", "-N", "256", "-K", "256", "--json"))
    assert r["verify"]["ok"] and r["problems"] == [] and r["finished"], r
    for key, value in dict(gld_requests=32768, gld_sectors=131072, gst_sectors=8192, lds_wavefronts=786432, lds_conflicts=0,
                           sts_wavefronts=32768, ffma=16777216).items():  # docs/counting.md
        assert r[key] == value, (key, r[key], value)


@test
def a_built_in_kernel_has_its_certificate_without_a_compiler():
    for kernel in ("cuda/tiled", "cuda/naive"):
        r = one(xray(kernel, "-M", "64", "-N", "64", "-K", "64", "--json", env=dict(ENV, MMTUTOR_NVRTC="/nowhere")))
        assert r["certificate"]["level"] == "exact" and r["arch"] == "compute_90", r
        assert r["registers"] > 0 and r["spill_bytes"] == 0 and 0 < r["occupancy"] <= 1, r
    r = one(xray("cuda/naive", "-M", "64", "-N", "64", "-K", "64", "--json", "--arch", "compute_75",
                 env=dict(ENV, MMTUTOR_NVRTC="/nowhere")))
    assert r["arch"] == "compute_75" and r["certificate"]["level"] == "exact", r


@test
def a_ptx_file_needs_no_compiler():
    r = one(xray(os.path.join(FIXTURES, "good.ptx"), "--entry", "reversed", "--args", "A,B,C,128", *LAUNCH, "-M", "64",
                 "-N", "64", "-K", "64", "--json", env=dict(ENV, MMTUTOR_NVRTC="/nowhere")))
    assert r["problems"] == [] and r["gld_requests"] > 0 and r["sts_requests"] > 0, r


@test
def a_built_in_kernel_needs_no_compiler_either():
    r = one(xray("cuda/tiled", "-M", "64", "-N", "64", "-K", "64", "--json", env=dict(ENV, MMTUTOR_NVRTC="/nowhere")))
    assert r["verify"]["ok"] and r["ffma"] == 64**3, r
    assert {l["line"]: l["ffma"] for l in r["lines"] if l.get("ffma")} == {at("fma"): 64**3}, r["lines"]


FAULTS = open(os.path.join(FIXTURES, "faults.cu"), encoding="utf-8").read()


@test
def every_fault_is_a_sentence_with_its_line():
    kernels = re.findall(r"void (\w+)\(const float \*A.*?\n}\n", FAULTS, re.S)
    bodies = dict(zip(kernels, re.findall(r"void \w+\(const float \*A.*?\n}\n", FAULTS, re.S)))
    assert len(bodies) >= 15
    for name, kinds in {n: set(re.findall(r"//@ ([a-z_]+)", b)) for n, b in bodies.items()}.items():
        if "unsupported" in kinds:  # what that is changes with what is supported
            continue
        args = [os.path.join(FIXTURES, "faults.ptx"), "--entry", name, "--args", "A,B,C,128", *LAUNCH, "-M", "64", "-N", "64",
                "-K", "64"]
        p = xray(*args, "--json")
        r = json.loads(p.stdout)
        wrong = any(q["severity"] == "error" for q in r["problems"])
        assert p.returncode == wrong and (wrong or kinds <= {"race_warp"}), (name, r["problems"])
        assert kinds <= {p["kind"] for p in r["problems"]}, (name, kinds, r["problems"])
        for p in r["problems"]:
            assert p["detail"].endswith(".") and p["detail"][0].isupper() and p["line"] > 0, (name, p)


@test
def limits_are_sentences():
    good = os.path.join(FIXTURES, "good.ptx")
    for launch, words in ((["--grid", "1", "--block", "1000000"], "1000000 threads"), (["--grid", "1", "--block", "0"], "0"),
                          (["--grid", "0", "--block", "32"], "0"), (["--grid", "99999999999", "--block", "32"], "99999999999"),
                          (["--grid", "1", "--block", "32", "--smem", "99999999"], "shared memory")):
        p = xray(good, "--entry", "reversed", "--args", "A,B,C,128", "--op", "none", *launch)
        assert p.returncode in (1, 2) and not p.stdout and words in p.stderr, (launch, p)


@test
def the_source_beside_a_ptx_file_is_shown():
    for name, age in (("faults.cu", -9), ("faults.ptx", 0), ("newer.cu", 9)):
        path = os.path.join(scratch.name, name)
        with open(os.path.join(FIXTURES, name.replace("newer", "faults"))) as f:
            file(name, f.read())
        os.utime(path, (1e9 + age, 1e9 + age))
    run = [os.path.join(scratch.name, "faults.ptx"), "--entry", "second_barrier", "--args", "A,B,C,128", *LAUNCH, "-M", "64",
           "-N", "64", "-K", "64"]
    assert re.search(r"^x +10 +sum \+= s\[63", xray(*run).stdout, re.M), xray(*run).stdout
    os.replace(os.path.join(scratch.name, "newer.cu"), os.path.join(scratch.name, "faults.cu"))
    p = xray(*run)  # its lines may be others
    assert "sum +=" not in p.stdout and "faults.cu:10" in p.stdout, p.stdout


@test
def damaged_ptx_is_a_sentence():
    with open(os.path.join(FIXTURES, "good.ptx"), encoding="utf-8") as f:
        text = f.read()
    for name, cut in (("cut.ptx", text[:len(text) // 2]), ("other.ptx", "int main() {}\n"), ("noise.ptx", "".join(map(chr, range(33, 126))) * 40)):
        p = xray(file(name, cut), "--entry", "reversed", "--args", "A,B,C,128", *LAUNCH)
        assert p.returncode in (1, 2) and not p.stdout and p.stderr.startswith("mmtutor xray: "), (name, p)


@test
def a_trace_has_every_event_of_a_block():
    path = os.path.join(scratch.name, "trace")
    r = one(xray("cuda/tiled", "-M", "32", "-N", "32", "-K", "32", "--param", "T=16", "--trace", path, "--json"))
    with open(path) as f:
        events = [json.loads(l) for l in f]
    assert r["blocks"] == 4 and len([e for e in events if e["op"].startswith("bar")]) > 0, events[:3]
    loads = [e for e in events if e["op"].startswith("ld.global")]
    assert len(loads) * 4 == r["gld_requests"], (len(loads), r["gld_requests"])


# ---- learners' files

HOST = r'''
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; ++k)
    sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
int main() {
  std::vector<float> host(256 * 256);
  float *A, *B, *C;
  cudaMalloc(&A, 4 * 256 * 256);
  dim3 block(16, 16), grid(16, 16);
  sgemm<<<grid, block>>>(256, 256, 256, 1.0f, A, B, 0.0f, C);
  printf("%f\n", host[0]);
}
'''
SGEMM = ["--args", "M,N,K,1.0,A,B,0.0,C", "--grid", "4,4", "--block", "16,16", "-M", "64", "-N", "64", "-K", "64"]


@test
def a_file_with_host_code_and_includes():
    need_nvrtc()
    r = one(xray(file("sgemm.cu", HOST), *SGEMM, "--json"))
    assert r["verify"]["ok"] and r["problems"] == [] and r["ffma"] >= 64**3, r
    assert "main" in [l.get("name") for l in r["left_out"]], r["left_out"]
    line = HOST.split("\n").index("    sum += A[row * K + k] * B[k * N + col];") + 1
    hot = max(r["lines"], key=lambda l: l.get("ffma", 0))
    assert hot["line"] == line and "sum +=" in hot["text"], hot
    p = xray(file("sgemm.cu", HOST), *SGEMM)
    assert p.returncode == 0 and re.search(r"^ > +%d +sum \+=" % line, p.stdout, re.M) and "left out" in p.stdout, p.stdout


@test
def a_comment_in_another_encoding_keeps_its_line():
    need_nvrtc()
    r = one(xray(file("gbk.cu", b"// \xc4\xda\xb4\xe6\n" + HOST.encode()), *SGEMM, "--json"))
    assert r["verify"]["ok"], r


@test
def wrong_kernels_fail():
    need_nvrtc()
    for name in ("last_k_dropped", "store_transposed", "writes_one_nan", "only_squares"):
        p = xray(os.path.join(WRONG, name + ".cu"), "-M", "37", "-N", "53", "-K", "29")
        assert p.returncode == 1 and "verify      WRONG" in p.stdout or "problem" in p.stdout, (name, p)
    p = xray(os.path.join(WRONG, "compile_error.cu"))
    assert p.returncode == 1 and "error" in p.stderr and not p.stdout, p


@test
def what_a_learner_does_wrong_is_named():
    need_nvrtc()
    head = "__global__ void k(float *A, float *B, float *C, int n) {\n"
    for body, kind in (("  for (int i = 0; i >= 0; i = (i + 1) & 7) ((volatile float *)C)[0] = i;\n", "budget"),
                       ("  C[0] = ((float *)(long long)(n - 64))[threadIdx.x];\n", "null"),
                       ("  C[2147483648ll + threadIdx.x] = 1;\n", "oob_global")):
        p = xray(file("fault.cu", head + body + "}\n"), "--args", "A,B,C,64", "--grid", "1", "--block", "32", "--op", "none",
                 "-M", "64", "-N", "64", "-K", "64", "--json")
        r = one(p, 1)
        assert kind in [q["kind"] for q in r["problems"]], (kind, r["problems"])
        assert [q["line"] for q in r["problems"] if q["kind"] == kind] == [2], r["problems"]


@test
def null_pointers_and_integer_arrays_are_arguments():
    need_nvrtc()
    f = file("null.cu", """__global__ void reads(const float *p, int *C) { C[threadIdx.x] = (int)p[threadIdx.x]; }
__global__ void counts(const int *in, int *C) { C[threadIdx.x] = in[threadIdx.x] + 1; }
""")
    launch = ["--grid", "1", "--block", "32", "--op", "none"]
    p = xray(f, "--entry", "reads", "--args", "0,C", *launch)
    assert p.returncode == 1 and "Reads 4 bytes at address 0: a null pointer." in p.stdout, p
    assert xray(f, "--entry", "counts", "--args", "W,C", *launch).returncode == 0
    p = xray(f, "--entry", "counts", "--args", "A,C", *launch)
    assert p.returncode == 2 and "Give it W, which holds zeros" in p.stderr, p
    p = xray(f, "--entry", "counts", "--args", "1,C", *launch)
    assert p.returncode == 2 and "W (zeros) and 0 (a null pointer)" in p.stderr, p


@test
def a_barrier_that_half_a_warp_reaches_is_an_error():
    need_nvrtc()
    for body in ("  if (threadIdx.x & 1) { __syncthreads(); C[1] = 1; }\n  C[threadIdx.x + 64] = 2;\n",
                 "  if (threadIdx.x & 1) return;\n  __syncthreads();\n  C[threadIdx.x] = 1;\n"):
        p = xray(file("half.cu", "__global__ void half_of(float *C) {\n" + body + "}\n"), "--args", "C", "--grid", "1", "--block",
                 "64", "--op", "none", "--json")
        found = [q for q in one(p, 1)["problems"] if q["kind"] == "barrier_divergence"]
        assert found and found[0]["severity"] == "error" and re.search("lanes 0x(a{8}|5{8}) ", found[0]["detail"]), found


@test
def a_structure_cannot_be_given_and_no_example_says_so():
    need_nvrtc()
    f = file("struct.cu", "struct Matrix { int w, h; float *p; };\n__global__ void k(Matrix A) { A.p[0] = 1; }\n")
    p = xray(f, "--grid", "1", "--block", "32", "--args", "C")
    assert p.returncode == 2 and "structure of 16 bytes" in p.stderr and "one by one" in p.stderr, p
    assert "such as" not in p.stderr, p


@test
def without_nvrtc_the_way_out_is_named():
    p = xray(file("sgemm.cu", HOST), *SGEMM, env=dict(ENV, MMTUTOR_NVRTC="/nowhere"))
    assert p.returncode == 1 and not p.stdout and "NVRTC" in p.stderr and "pip install" in p.stderr, p


@test
def the_readme_shows_what_is_printed():
    need_nvrtc()
    for name in ("README.md", "README.zh-CN.md"):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            block = re.search(r"```\n\$ mmtutor xray ([^\n]*)\n(.*?)```", f.read(), re.S)
        out = xray(*block.group(1).split(), cwd=ROOT).stdout
        varies = r"^(took|用时) .*\n"  # and the compiler's version, with all that depends on it
        if re.search(r"NVRTC [\d.]+", block.group(2)).group() not in out:
            raise Skip("another NVRTC")
        assert re.sub(varies, "", out, flags=re.M) == re.sub(varies, "", block.group(2), flags=re.M), (name, out)


def main():
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        try:
            f()
            print("ok %d - %s" % (i, f.__name__))
        except Skip as e:
            print("ok %d - %s # SKIP %s" % (i, f.__name__, e))
        except Exception as e:
            print("not ok %d - %s" % (i, f.__name__))
            print("\n".join("# " + l for l in ("%s: %s" % (type(e).__name__, str(e)[:1500])).splitlines()))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
