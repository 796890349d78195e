#!/usr/bin/env python3
"""The counts that stand in the header comments of the rungs are those of the x-ray, of this rung and of the one before."""
import json
import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MMTUTOR = os.path.abspath(os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor")))
# The shipped PTX: the same with and without a compiler on this machine.
ENV = dict(os.environ, MMTUTOR_DATA=ROOT, MMTUTOR_NVRTC="/nowhere", LC_ALL="C.UTF-8")
RUNGS = ("tiled", "tile_1d", "tile_2d", "vectorized", "padded", "double_buffer", "async_copy", "warp_tile")
WAVEFRONTS = ("gld_wavefronts", "gst_wavefronts", "lds_wavefronts", "sts_wavefronts")
ROWS = {"global load requests": ("gld_requests",), "global load sectors": ("gld_sectors",),
        "shared load requests": ("lds_requests",), "shared load wavefronts": ("lds_wavefronts",),
        "shared store wavefronts": ("sts_wavefronts",), "wavefronts in all; one a clock": WAVEFRONTS,
        "FMAs of warps; four a clock": ("ffma",), "barriers, one a warp": ("barriers",)}


def counts(rung):
    p = subprocess.run([MMTUTOR, "xray", "cuda/" + rung, "-M", "256", "-N", "256", "-K", "256", "--json"], env=ENV,
                       stdout=subprocess.PIPE, timeout=120, check=True)
    r = json.loads(p.stdout)
    assert r["certificate"]["level"] == "exact" and r["verify"]["ok"] and not r["problems"], r["certificate"]
    assert r["spill_bytes"] == 0, r["spill_bytes"]
    r["ffma"] /= 32
    return r


def check(rung, before, here):
    with open(os.path.join(ROOT, "src/kernels/cuda", rung + ".cu"), encoding="utf-8") as f:
        text = f.read()
    seen = 0
    for label, keys in ROWS.items():
        m = re.search(r"^ \*   " + re.escape(label) + r" +([\d,]+) +([\d,]+)$", text, re.M)
        assert m, label
        said = [int(x.replace(",", "")) for x in m.groups()]
        found = [sum(c[k] for k in keys) for c in (before, here)]
        assert said == found, (label, said, found)
        seen += 1
    assert seen == len(ROWS)


def main():
    print("1..%d" % (len(RUNGS) - 1))
    before = counts(RUNGS[0])
    for i, rung in enumerate(RUNGS[1:], 1):
        here = counts(rung)
        try:
            check(rung, before, here)
            print("ok %d - counts in the header of cuda/%s" % (i, rung))
        except AssertionError as e:
            print("not ok %d - counts in the header of cuda/%s\n# %s" % (i, rung, e))
        before = here


if __name__ == "__main__":
    main()
