#!/usr/bin/python3
"""make bench-xray: the speed tables of xray_bench, as built and without AVX2, and host instructions per warp instruction by
callgrind, held against tests/bench/xray_cost.json (--write makes that file anew)."""
import json, os, re, shutil, subprocess, sys, tempfile

COST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "xray_cost.json")
KERNELS, MODES, SIZE, SLACK = ["naive", "tiled", "rows", "square"], ["checked", "counts"], "64", 0.03


def cost(program, kernel, mode):
    with tempfile.TemporaryDirectory() as d:
        r = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=exec_flow_block",
                            f"--callgrind-out-file={d}/out", program, kernel, mode, SIZE],
                           capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", r.stderr)[1]) / float(r.stdout)


def main():
    program, plain, write = sys.argv[1], sys.argv[2], "--write" in sys.argv
    if not write:
        subprocess.run([program], check=True)
        print("The same without AVX2:", flush=True)
        subprocess.run([plain, "table"], check=True)
    if not shutil.which("valgrind"):
        print("Host instructions per warp instruction: valgrind is not here.")
        return 0
    known = {} if write else json.load(open(COST))
    now, worse = {}, 0
    print(f"Host instructions per warp instruction at {SIZE}^3")
    for k in KERNELS:
        for m in MODES:
            name = f"{k}, {m}"
            now[name] = round(cost(program, k, m), 1)
            was = known.get(name)
            verdict = "" if was is None else f", was {was}"
            if was and abs(now[name] / was - 1) > SLACK:
                verdict += ": worse" if now[name] > was else ": better"
                worse += now[name] > was
            print(f"  {name:<18} {now[name]:7.1f}{verdict}", flush=True)
    if write:
        json.dump(now, open(COST, "w"), indent=1)
    return 1 if worse else 0


sys.exit(main())
