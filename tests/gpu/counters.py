#!/usr/bin/env python3
"""counters.py measure OUT.json   on a machine with a GPU: the hardware's counters of every case
counters.py compare OUT.json      anywhere with NVRTC: the x-ray's counts held against them

The cases are counters.json beside this: kernels as people write them (tests/fixtures/counters), with
the launch. LAUNCH names the launcher (build/.../tests/gpu/launch), MMTUTOR the program."""
import csv, datetime, io, json, os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(os.path.dirname(here))
fixtures = "tests/fixtures/counters"
cases = json.load(open(os.path.join(here, "counters.json")))

# count of the x-ray -> counter of the hardware. The first group must be equal to the digit; the rest
# is kept for study.
EQUAL = {
    "gld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "gld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "gst_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "gst_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "lds_requests": "smsp__inst_executed_op_shared_ld.sum",
    "lds_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "sts_requests": "smsp__inst_executed_op_shared_st.sum",
    "sts_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "fadd": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "fmul": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
}
STUDY = [
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_ldgsts.sum",
    "smsp__inst_executed_op_ldsm.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "smsp__sass_inst_executed_op_branch.sum",
    "launch__registers_per_thread",
    "launch__occupancy_limit_registers",
    "sm__maximum_warps_per_active_cycle_pct",
]


def known_metrics():
    out = subprocess.run(["ncu", "--query-metrics", "--chips", "gh100"], capture_output=True, text=True)
    return {line.split()[0] for line in out.stdout.splitlines() if line.strip()}


def command():
    words = []
    for c in cases:
        words += ["--"] if words else []
        words += [f"{fixtures}/{c['file']}", c["entry"], c["grid"], c["block"], str(c["smem"]), *c["launch"]]
    return [os.environ.get("LAUNCH", "build/release/tests/gpu/launch"), *words]


def measure(out):
    known = known_metrics()
    wanted = [m for m in list(EQUAL.values()) + STUDY
              if m.split(".")[0] in known or m.startswith("launch__")]
    missing = [m for m in list(EQUAL.values()) + STUDY if m not in wanted]
    run = subprocess.run(["ncu", "--clock-control", "none", "--csv", "--print-units", "base",
                          "--metrics", ",".join(wanted), *command()],
                         capture_output=True, text=True, cwd=top)
    rows = {}
    text = run.stdout[run.stdout.find('"ID"'):]
    for r in csv.DictReader(io.StringIO(text)):
        value = r["Metric Value"].replace(",", "")
        rows.setdefault(int(r["ID"]), {"kernel": r["Kernel Name"]})[r["Metric Name"]] = float(value or "nan")
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip().split(", ")
    result = {"schema": 1, "device": smi[0], "driver": smi[-1],
              "date": datetime.date.today().isoformat(), "absent": missing,
              "cases": [{**c, "hardware": rows.get(i, {})} for i, c in enumerate(cases)]}
    with open(out, "w") as f:
        json.dump(result, f, indent=1)
    if run.returncode or len(rows) != len(cases):
        sys.stderr.write(run.stdout[-2000:] + run.stderr[-2000:])
        return 1
    print(f"{len(rows)} kernels, {len(wanted)} counters; not known here: {' '.join(missing)}")
    return 0


def xray(c):
    words = [os.environ.get("MMTUTOR", "./mmtutor"), "xray", f"{fixtures}/{c['file']}", "-M", str(c["M"]),
             "-N", str(c["N"]), "-K", str(c["K"]), "--entry", c["entry"], "--grid", c["grid"],
             "--block", c["block"], "--smem", str(c["smem"]), "--args", c["args"], "--op", c["op"], "--json"]
    if "dtype" in c:
        words += ["--dtype", c["dtype"]]
    run = subprocess.run(words, capture_output=True, text=True, cwd=top)
    try:
        return json.loads(run.stdout)
    except ValueError:
        return {"failed": run.stderr.strip() or run.stdout.strip()}


def compare(path):
    data = json.load(open(path))
    equal = wrong = cases_equal = 0
    for c in data["cases"]:
        x, hw = xray(c), c["hardware"]
        name = f"{c['file']} {c['entry']} {c['M']}x{c['N']}x{c['K']}"
        if "failed" in x:
            print(f"FAILED {name}: {x['failed']}")
            wrong += 1
            continue
        cert = x.get("certificate", {})
        kind = cert.get("kind", "none") if isinstance(cert, dict) else cert
        bad = []
        for count, metric in EQUAL.items():
            if metric not in hw:
                continue
            if x.get(count) == hw[metric]:
                equal += 1
            else:
                bad.append(f"{count} {x.get(count)} hardware {hw[metric]:.0f}")
        cases_equal += not bad
        wrong += len(bad)
        verdict = "equal" if not bad else "DIFFERS"
        print(f"{verdict} {name} ({kind}, verify {x.get('verify', {}).get('ok')}, "
              f"problems {len(x.get('problems', []))}) {'; '.join(bad)}")
    print(f"{cases_equal} of {len(data['cases'])} kernels equal in all; {equal} counts equal, {wrong} not")
    return wrong > 0


if __name__ == "__main__":
    sys.exit({"measure": measure, "compare": compare}[sys.argv[1]](sys.argv[2]))
