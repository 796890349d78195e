#!/usr/bin/python3
"""The worker's request "xray" (docs/contracts.md 4 and 5), spoken raw. TAP.

PTX and the shipped rungs need no compiler; what needs NVRTC is skipped where it is not."""
import json, os, re, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_test import LIMIT, ROOT, Worker

FIXTURES = os.path.join(ROOT, "tests/fixtures/xray")
LEARNER = os.path.join(ROOT, "tests/fixtures/learner")
SIZES = {"M": 70, "N": 50, "K": 30}
tests = []


class Skip(Exception):
    pass


def test(f):
    tests.append(f)
    return f


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def xray(**request):
    """The last event, and those before it."""
    with Worker() as w:
        w.send(id=1, req="xray", **request)
        events = w.until_end(1)
        assert len([e for e in events if e["ev"] in ("result", "error", "cancelled")]) == 1, events
        return events[-1], events[:-1]


def ptx(entry, **more):
    return xray(kernel="ops.ptx", source=text(os.path.join(FIXTURES, "ops.ptx")), entry=entry,
                **{"grid": "ceil(N/16),ceil(M/16)", "block": "16,16", **SIZES, **more})


def cuda(source, name="mine.cu", **more):
    last, before = xray(kernel=name, source=source, **more)
    if last.get("code") == "no_nvrtc":
        raise Skip("NVRTC is not here")
    return last


# The launches of ops.cu, as people write them.
MAIN = """
#define CEIL(a, b) (((a) + (b) - 1) / (b))
static int up(int a, int b) { return (a + b - 1) / b; }
int main(int argc, char **argv) {
  const int TX = 16;
  int width = N, height = M, n = width * height;
  dim3 block(TX, TX), grid((N + 15) / 16, up(M, TX));
  sgemm<<<grid, block>>>(M, N, K, 1, A, B, 0, C);
  typed<double, 16><<<grid, dim3(16, 16)>>>(A, B, C, M, N, K);
  columns<<<grid, block>>>(A, B, C, M, N, K, M, K, M);
  dots<<<grid, block>>>(A, B, C, M, N, K);
  gemv<<<CEIL(M, 64), 64>>>(A, x, y, M, K);
  add<<<up(n, 256), 256>>>(a, b, c, n);
  copy<<<(n + 255) / 256, 256>>>(a, c, n);
  transpose<<<grid, block>>>(a, c, width, height);
  reduce<<<1, 256, 0>>>(a, c, n);
  far<<<rand(), 32>>>(A, B, C, M, N, K);
}
"""
OPS = text(os.path.join(FIXTURES, "ops.cu")) + MAIN


# ---- the contract

def documented():
    """The keys of the x-ray's result in docs/contracts.md 5, by object."""
    doc = text(os.path.join(ROOT, "docs/contracts.md"))
    part = doc[doc.index("X-ray (result of xray"):doc.index("## 6. Measuring")]
    return set(re.findall(r'"(\w+)"', part)) | {"schema", "kernel", "params", "device", "M", "N", "K", "flop", "bytes",
                                                  "verify", "seed", "date", "version", "kernel_sha256", "warnings"}


@test
def a_rung_gives_the_documented_result():
    last, before = xray(kernel="cuda/tiled", defines=["T=16"], **SIZES)
    assert last["ev"] == "result", last
    assert [e["ev"] for e in before] == ["compile"], before
    keys = documented()
    unknown = [k for k in last if k not in keys and k not in ("id", "ev")]
    assert not unknown, unknown
    for k in ("schema", "kernel", "params", "device", "flop", "bytes", "verify", "entry", "args", "arch", "compiler", "grid",
              "block", "finished", "sampled", "blocks", "blocks_executed", "gld_requests", "lds_conflicts", "ffma",
              "flop_executed", "problems", "lines", "left_out", "warnings"):
        assert k in last, k
    assert last["schema"] == 1 and last["kernel"] == "cuda/tiled" and last["params"] == {"T": 16}
    assert last["device"]["id"] == "xray" and last["flop"] == 2 * 70 * 50 * 30
    assert last["verify"]["ok"] and last["verify"]["checked"] == 3500
    assert last["grid"] == [4, 5, 1] and last["block"] == [16, 16, 1] and last["blocks"] == 20
    assert last["flop_executed"] == 2 * last["ffma"] + last["fadd"] + last["fmul"] + last["other_flop"]
    # Zero fill and threads outside C count: T^3 a tile.
    assert last["ffma"] == 16 ** 3 * 4 * 5 * 2
    # The lines of the kernel alone, each with its text, and their sum is the launch.
    lines = last["lines"]
    assert lines == sorted(lines, key=lambda l: (l["file"], l["line"]))
    assert all(l["file"] == "tiled.cu" for l in lines)
    assert sum(l.get("ffma", 0) for l in lines) == last["ffma"]
    fma = [l for l in lines if l.get("ffma")]
    assert len(fma) == 1 and "acc +=" in fma[0]["text"] and "//@" not in fma[0]["text"], fma
    assert fma[0]["counted"] is True and not all(l.get("counted") for l in lines)
    for l in lines:
        assert set(l) <= keys, l


@test
def a_ptx_file_needs_no_compiler():
    last, _ = ptx("short_k", args="A,B,C,M,N,K")
    assert last["ev"] == "result" and last["compiler"] == "a PTX file" and last["arch"] == "compute_90"
    assert not last["verify"]["ok"] and last["verify"]["note"].startswith("C[0,0] is ")
    for k in ("registers", "occupancy", "certificate", "compile_ms"):
        assert k not in last, k
    assert all("text" not in l and l["file"] == "ops.cu" for l in last["lines"])


TMA = """/* mmtutor {"schema": 1, "id": "cuda/t", "op": "gemm", "dtype": {"A": "f32"},
  "maps": {"a": {"of": "A", "box": [8, 8], "swizzle": 0}},
  "launches": [{"entry": "t", "grid": [1, 1, 1], "block": [32, 1, 1], "args": ["a"]}]} */
extern "C" __global__ void t(int a) {}
"""


@test
def unknown_kernels_and_fields_are_sentences():
    for request, code in (({"kernel": "cuda/nothing"}, "no_kernel"), ({"kernel": "cpu/ikj"}, "wrong_device"),
                          ({}, "bad_request"), ({"kernel": 5}, "bad_request"),
                          ({"kernel": "cuda/naive", "M": 0}, "bad_request"),
                          ({"kernel": "cuda/naive", "op": "sort"}, "bad_request"),
                          ({"kernel": "cuda/tiled", "defines": ["T=7"]}, "params"),
                          ({"kernel": "cuda/tiled", "defines": ["T=x"]}, "params"),
                          ({"kernel": "cuda/naive", "M": 2147483647, "K": 2147483647}, "requires"),
                          ({"kernel": "x.ptx", "source": "x"}, "ptx"),
                          ({"kernel": "x.cu", "source": TMA}, "unsupported"),
                          ({"kernel": "x.cu", "source": "/* mmtutor { */"}, "front_matter")):
        last, _ = xray(**request)
        assert last["ev"] == "error" and last["code"] == code, (request, last)
        assert last["what"], last


@test
def an_endless_loop_and_wild_pointers_are_problems():
    start = time.monotonic()
    for entry, kind in (("endless", "budget"), ("null", "null"), ("far", "oob_global")):
        last, _ = ptx(entry, args="A,B,C,M,N,K")
        assert last["ev"] == "result", last
        found = [p for p in last["problems"] if p["kind"] == kind]
        assert found and found[0]["severity"] == "error" and found[0]["line"] > 0, last["problems"]
        assert found[0]["file"] == "ops.cu"
    assert "verify" not in ptx("endless", args="A,B,C,M,N,K")[0]


@test
def a_trace_is_lines_of_json():
    last, before = xray(kernel="cuda/tiled", M=8, N=8, K=8, defines=["T=8"], trace=[0, 0, 0])
    assert last["ev"] == "result", last
    body = "".join(e["text"] for e in before if e["ev"] == "trace")
    events = [json.loads(l) for l in body.splitlines()]
    if not events:
        raise Skip("this machine gives no events")
    loads = [e for e in events if e["op"].startswith("ld.global")]
    # Two warps of a block of 64 threads load A and B once each.
    assert len(loads) == 4, loads
    assert {e["array"] for e in loads} == {"A", "B"} and all(len(e["offsets"]) == 32 for e in loads)
    assert [e["offsets"] for e in loads if e["array"] == "A" and e["warp"] == 0] == [list(range(0, 128, 4))]
    assert any("array" not in e and e["op"].startswith("bar") for e in events)


# ---- cancelling, and the end of the worker

LONG = {"kernel": "cuda/naive", "M": 2048, "N": 2048, "K": 2048}


@test
def a_cancel_is_answered_and_the_next_request_served():
    with Worker() as w:
        w.send(id=1, req="xray", **LONG)
        while w.event()["ev"] != "compile":
            pass
        w.send(id=2, req="cancel", of=1)
        last = w.until_end(1)[-1]
        assert last["ev"] == "cancelled", last
        if not last.get("leaving"):
            assert w.event()["id"] == 2
            w.send(id=3, req="xray", kernel="cuda/naive", M=8, N=8, K=8)
            assert w.until_end(3)[-1]["ev"] == "result"


@test
def quitting_and_the_end_of_input_do_not_wait():
    for end in (True, False):
        with Worker() as w:
            w.send(id=1, req="xray", **LONG)
            while w.event()["ev"] != "compile":
                pass
            if end:
                w.p.stdin.close()
            else:
                w.send(id=2, req="quit")
            assert w.ended() == 0


# ---- with the compiler

@test
def every_operation_of_a_learners_file():
    for entry, op, checked in (("sgemm", None, 3500), ("typed", None, 3500), ("gemv", "gemv", 70), ("add", "add", 3500),
                               ("copy", "copy", 3500), ("transpose", "transpose", 3500), ("reduce", "reduce", 1)):
        last = cuda(OPS, entry=entry, op=op, **SIZES)
        assert last["ev"] == "result", (entry, last)
        assert last["verify"]["ok"] and last["verify"]["checked"] == checked, (entry, last["verify"])
        assert not last["problems"] and last["args_guessed"], (entry, last["problems"])
        assert last["registers"] > 0 and 0 < last["occupancy"] <= 1, entry
        assert last["certificate"]["level"] in ("exact", "ptx_level")
        assert [l["name"] for l in last["left_out"]] == ["up", "main"], last["left_out"]
        assert any("__global__" in l.get("text", "") for l in last["lines"])
        assert not any("main" in l.get("text", "") for l in last["lines"])
    assert cuda(OPS, entry="typed", **SIZES)["dtype"] == "f64"
    assert cuda(OPS, entry="gemv", op="gemv", **SIZES)["grid"] == [2, 1, 1]


@test
def layouts_and_numbers():
    last = cuda(OPS, entry="columns", layout={"A": "col", "B": "col", "C": "col"}, **SIZES)
    assert last["verify"]["ok"] and last["args"] == "A,B,C,M,N,K,lda,ldb,ldc", last
    assert not cuda(OPS, entry="dots", **SIZES)["verify"]["ok"]
    assert cuda(OPS, entry="dots", layout={"B": "col"}, **SIZES)["verify"]["ok"]
    for args in ("M,N,K,1.5,A,B,-2,C", "M,N,K,alpha,A,B,beta,C", "M,N,K,alpha=0,A,B,1,C"):
        last = cuda(OPS, entry="sgemm", args=args, **SIZES)
        assert last["verify"]["ok"] and not last["problems"], (args, last["verify"], last["problems"])


HALF = """#include <%s>
__global__ void gemm(const %s *A, const %s *B, %s *C, int M, int N, int K) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= N || y >= M) return;
  float s = 0;
  for (int k = 0; k < K; k++) s += %s(A[y * K + k]) * %s(B[k * N + x]);
  C[y * N + x] = %s(s);
}
"""


@test
def half_and_bfloat16():
    for header, type, to, back, name in (("cuda_fp16.h", "__half", "__half2float", "__float2half", "f16"),
                                         ("cuda_bf16.h", "__nv_bfloat16", "__bfloat162float", "__float2bfloat16", "bf16")):
        for out, end in ((type, back), ("float", "")):
            last = cuda(HALF % (header, type, type, out, to, to, end), grid="4,5", block="16,16", **SIZES)
            if last["ev"] == "error" and "toolkit" in last["why"]:
                raise Skip("the toolkit's headers are not here")
            assert last["ev"] == "result", last
            if [p for p in last["problems"] if p["kind"] == "unsupported"]:
                raise Skip(last["problems"][0]["detail"])
            assert last["dtype"] == name and last["verify"]["ok"], last


STRUCTURES = """
typedef struct { int width, height; /* of the whole */ size_t stride; float *elements; } Matrix;
struct Problem { const float *a, *b; float *c; int m, n, k; float alpha = 1, beta; };
struct Open { float *p; __device__ float at(int i) const { return p[i]; } };
__global__ void three(const Matrix A, const Matrix B, Matrix C) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= C.width || y >= C.height) return;
  float s = 0;
  for (int k = 0; k < A.width; k++) s += A.elements[y * A.stride + k] * B.elements[k * B.stride + x];
  C.elements[y * C.stride + x] = s;
}
__global__ void one(Problem p) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p.n || y >= p.m) return;
  float s = 0;
  for (int k = 0; k < p.k; k++) s += p.a[y * p.k + k] * p.b[k * p.n + x];
  p.c[y * p.n + x] = p.alpha * s + p.beta * p.c[y * p.n + x];
}
__global__ void open(Open p) { p.p[0] = 1; }
"""


@test
def structures_are_given_in_braces():
    launch = dict(grid="ceil(N/16),ceil(M/16)", block="16,16", **SIZES)
    for entry, args in (("three", "{K,M,K,A},{N,K,N,B},{N,M,N,C}"),
                        ("one", "{A,B,C,M,N,K,2,0.5}"), ("one", "{A,B,C,M,N,K,1,0}")):
        last = cuda(STRUCTURES, entry=entry, args=args, **launch)
        assert last["ev"] == "result" and last["verify"]["ok"] and not last["problems"], last
    last = cuda(STRUCTURES, entry="one", args="{A,B,C,M,N,K-1,1,0}", **launch)
    assert last["ev"] == "result" and not last["verify"]["ok"], last
    for entry, args, said in (("one", "{A,B,C,M,N,K}", "The structure has 8 fields, and --args gives 6."),
                              ("one", "{A,B,C,M,N,A,1,0}", "`int k`"),
                              ("one", "A", "a structure of 48 bytes"), ("open", "{C}", "Open p")):
        last = cuda(STRUCTURES, entry=entry, args=args, **launch)
        assert last["ev"] == "error" and last["code"] == "args", last
        assert said in last["what"], last


TENSOR = """
#include <mma.h>
using namespace nvcuda;
template <typename In, typename Out, int K_STEP>
__global__ void tensor(const typename In::memory *A, const typename In::memory *B, Out *C, int N,
                       int K) {
  wmma::fragment<wmma::matrix_a, 16, 16, K_STEP, typename In::unit, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, K_STEP, typename In::unit, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, K_STEP, Out> c;
  wmma::fill_fragment(c, Out(0.f));
  for (int k = 0; k < K; k += K_STEP) {
    wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
    In::round(a);
    In::round(b);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}
struct tf32 {
  using memory = float;
  using unit = wmma::precision::tf32;
  template <class F> static __device__ void round(F &f) {
    for (int i = 0; i < f.num_elements; i++) f.x[i] = wmma::__float_to_tf32(f.x[i]);
  }
};
struct f16 {
  using memory = half;
  using unit = half;
  template <class F> static __device__ void round(F &) {}
};
"""


@test
def coarser_sums_have_a_wider_bound():
    for kernel, dtype, low, high in (("tensor<tf32, float, 8>", "f32", 1e-6, 1e-2),
                                     ("tensor<f16, float, 16>", "f16", 0, 1e-5),
                                     ("tensor<f16, half, 16>", "f16", 1e-6, 1e-1)):
        last = cuda(TENSOR, entry=kernel, args="A,B,C,N,K", grid="N/16,M/16", block="32", M=64, N=64,
                    K=128, dtype=dtype)
        if last["ev"] == "error" and "toolkit" in last["why"]:
            raise Skip("the toolkit's headers are not here")
        assert last["ev"] == "result" and last["verify"]["ok"], last
        assert low <= last["verify"]["max_error"] <= last["verify"]["bound"] <= high, last["verify"]


@test
def what_a_learner_has_to_be_told():
    for entry, more, code, said in (
            ("far", {}, "launch", "cannot be evaluated without running it"),
            ("short_k", {}, "launch", "no <<<grid, block>>> of this kernel"),
            ("copy", {}, "args", "const float *in, float *out, int n"),
            ("copy", {}, "args", "--op copy --args 'A,C,M*N'"),
            ("missing", {}, "entry", "has no kernel named missing"),
            (None, {}, "entry", "Name one with --entry"),
            ("sgemm", {"dtype": "f16"}, "dtype", "--dtype says f16"),
            ("sgemm", {"arch": "hopper"}, "arch", "no target"),
            ("sgemm", {"arch": "compute_20"}, "arch", "compute_20"),
            ("sgemm", {"args": "A,B,C,M,N,K,1,0"}, "args", "`int M`"),
            ("dots", {"args": "A,B,C,M,N,3e9"}, "args", "`int K`"),
            ("dots", {"args": "A,M,C,M,N,K"}, "args", "`const float *B`")):
        last = cuda(OPS, entry=entry, **{**SIZES, **more})
        assert last["ev"] == "error" and last["code"] == code, (entry, last)
        assert any(said in last[k] for k in ("what", "why", "next")), (said, last)
    last = cuda("__global__ void k(float *C) { C[0] = nothing; }")
    assert last["code"] == "compile" and 'mine.cu:1: identifier "nothing"' in last["why"], last
    last = cuda("struct S { float *p; int n; };\n__global__ void k(S A, S B, S C) { C.p[0] = A.p[0] + B.p[0]; }")
    assert last["code"] == "args" and "a structure of 16 bytes" in last["what"], last


@test
def quoted_headers_lie_beside_the_file():
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "tile.cuh"), "w") as f:
            f.write("#define TILE 16\n__device__ float twice(float x) { return 2 * x; }\n")
        source = ('#include "tile.cuh"\n__global__ void copy(const float *in, float *out, int n) {\n'
                  "  int i = blockIdx.x * TILE + threadIdx.x;\n  if (i < n) out[i] = twice(in[i]) / 2;\n}\n")
        ask = {"op": "copy", "grid": "ceil(M*N/16)", "block": "16", **SIZES}
        last = cuda(source, dir=d, **ask)
        assert last["ev"] == "result" and last["verify"]["ok"], last
        last = cuda(source, **ask)
        assert last["ev"] == "error" and '"tile.cuh" is not here' in last["next"], last


@test
def what_is_no_file_is_no_header():
    with tempfile.TemporaryDirectory() as d:
        os.mkfifo(os.path.join(d, "pipe.h"))
        os.mkdir(os.path.join(d, "folder.h"))
        os.symlink("/dev/zero", os.path.join(d, "zero.h"))
        for name in ("pipe.h", "folder.h", "zero.h"):
            last = cuda('#include "%s"\n__global__ void k() {}\n' % name, dir=d, grid="1", block="32")
            assert last["ev"] == "result", last
            assert any(name in w for w in last["warnings"]), last["warnings"]


@test
def any_name_of_a_file_compiles():
    for name in ("-x.cu", "--version.cu", 'quo"te.cu', "back\\slash.cu", "new\nline.cu", "\x1b[31m.cu", "a b'%s.cu",
                 "\u4e2d.cu", "x" * 240 + ".cu"):
        last = cuda("__global__ void k(float *C) {\n  C[threadIdx.x] = 1;\n}\n", name=name, args="C", op="none",
                    grid="1", block="32")
        assert last["ev"] == "result", last
        assert [l["line"] for l in last["lines"] if l.get("gst_requests")] == [2], last["lines"]


@test
def front_matter_of_a_learners_file_counts():
    tiled = text(os.path.join(ROOT, "src/kernels/cuda/tiled.cu")).replace('"cuda/tiled"', '"cuda/mine"')
    last = cuda(tiled, defines=["T=8"], **SIZES)
    assert last["ev"] == "result" and last["verify"]["ok"], last
    assert last["params"] == {"T": 8} and last["block"] == [8, 8, 1] and not last.get("args_guessed")
    assert last["bytes"]["requested"] == 4 * 30 * (70 * 7 + 50 * 9)
    assert last["kernel"] == "mine.cu" and last["shared_bytes"] == 2 * 8 * 8 * 4
    assert cuda(tiled, defines=["T=9"], **SIZES)["code"] == "params"
    for name in "ABC":
        last = cuda(tiled.replace('"%s": "row"' % name, '"%s": "col"' % name), defines=["T=8"], **SIZES)
        assert last["ev"] == "result" and not last["verify"]["ok"], (name, last)
    # What is given counts more than the front matter.
    last = cuda(tiled, grid="1,1", **SIZES)
    assert last["grid"] == [1, 1, 1] and not last["verify"]["ok"]
    last = cuda(tiled, defines=["T=8", "UNUSED=3"], **SIZES)
    assert last["ev"] == "result" and last["verify"]["ok"]


@test
def defines_reach_the_file():
    source = "__global__ void k(float *C) { C[threadIdx.x] = VALUE; }\n"
    ask = {"op": "none", "args": "C", "grid": "1", "block": "SIDE"}
    assert cuda(source, **ask)["code"] == "compile"
    last = cuda(source, defines=["VALUE=3", "SIDE=40"], **ask)
    assert last["ev"] == "result" and last["block"] == [40, 1, 1] and last["gst_requests"] == 2, last
    last = cuda(source, defines=["VALUE=3"], **ask)
    assert last["code"] == "launch" and "SIDE" in last["why"], last


@test
def what_a_kernel_prints_comes_back():
    source = ('__global__ void talk(float *C) {\n  printf("thread %d\\n", (int)threadIdx.x);\n  C[0] = 1;\n}\n'
              "int main() { talk<<<1, 2>>>(0); }\n")
    last = cuda(source, op="none", args="C")
    if [p for p in last.get("problems", []) if p["kind"] == "unsupported"]:
        raise Skip("printf is not supported yet")
    assert last["print"] == "thread 0\nthread 1\n", last


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
            print("# %s: %s" % (type(e).__name__, str(e)[:1500].replace("\n", " ")))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
