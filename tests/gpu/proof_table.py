"""proof_table.py RUNS.JSONL: one line a measured run; right small shapes are only counted."""
import json
import math
import sys

WORDS = "{kernel:18} {params:6} {M:7} {N:6} {K:6} {ok} err {err:.1e} <= {bound:.1e} " \
        "{ms:11.4f} ms, spread {spread:4.1f} % {gflops:9.1f} GFLOP/s {gbs:7.1f} GB/s, " \
        "reference {ref:9.1f} GFLOP/s {ref_ms:.4f} ms ratio {ratio:.3f}, in {to_gpu:.2f} ms, " \
        "{mhz} MHz {watt} W {note}"


def small(r):
    return r["M"] * r["N"] * r["K"] < 512 ** 2


def line(r):
    ref, params = r.get("reference", {}), r.get("params", {})
    nan = math.nan
    ms = r.get("median_ms", nan)
    return WORDS.format(
        kernel=r["kernel"], params=" ".join("%s=%g" % p for p in params.items()),
        M=r["M"], N=r["N"], K=r["K"], ok="ok" if r["verify"]["ok"] else "WRONG",
        err=r["verify"]["max_error"], bound=r["verify"]["bound"], ms=ms,
        spread=(r.get("p90_ms", nan) - r.get("p10_ms", nan)) / ms * 100,
        gflops=r.get("gflops", nan), gbs=r.get("gbs", nan), ref=ref.get("gflops", nan),
        ref_ms=ref.get("median_ms", nan), ratio=ref.get("ratio", nan),
        to_gpu=r.get("transfer_ms", {}).get("in", nan), mhz=r.get("clock_mhz", "-"),
        watt=r.get("power_w", "-"), note="; ".join(r.get("warnings", [])))


runs = [r for r in map(json.loads, open(sys.argv[1])) if "verify" in r]
for run in runs:
    if not (run["verify"]["ok"] and small(run)):
        print(line(run))
print("%d small shapes right" % sum(r["verify"]["ok"] and small(r) for r in runs))
