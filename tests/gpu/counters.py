#!/usr/bin/env python3
"""counters.py measure OUT.json   on a machine with a GPU: the hardware's counters of every case
counters.py compare IN.json       anywhere with NVRTC: the x-ray's counts held against them

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


def version():
    return subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout.split()[-1]


def label(c):
    return f"{c['file']} {c['entry']} {c['M']}x{c['N']}x{c['K']}"


def write(path, head, rows):
    """One line a kernel: its label, then the counters in the order of the head's."""
    text = json.dumps(head)[:-1] + ', "kernels": {\n'
    text += ",\n".join(f"{json.dumps(label(c))}: " + json.dumps(
        [int(v) if v is not None and v == int(v) else v for v in row]) for c, row in rows)
    with open(path, "w") as f:
        f.write(text + "\n}}\n")


def read(path):
    data = json.load(open(path))
    return {k: dict(zip(data["counters"], row)) for k, row in data["kernels"].items()}


def measure(out):
    known = known_metrics()
    wanted = [m for m in list(EQUAL.values()) + STUDY
              if m.split(".")[0] in known or m.startswith("launch__")]
    missing = [m for m in list(EQUAL.values()) + STUDY if m not in wanted]
    run = subprocess.run(["ncu", "--clock-control", "none", "--target-processes", "all", "--csv", "--print-units", "base",
                          "--metrics", ",".join(wanted), *command()],
                         capture_output=True, text=True, cwd=top)
    rows = {}
    text = run.stdout[run.stdout.find('"ID"'):]
    for r in csv.DictReader(io.StringIO(text)):
        value = r["Metric Value"].replace(",", "")
        rows.setdefault(int(r["ID"]), {"kernel": r["Kernel Name"]})[r["Metric Name"]] = float(value or "nan")
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip().split(", ")
    write(out, {"schema": 1, "device": smi[0], "driver": smi[-1], "profiler": version(),
                "date": datetime.date.today().isoformat(), "absent": missing, "counters": wanted},
          [[c, [rows.get(i, {}).get(m) for m in wanted]] for i, c in enumerate(cases)])
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


def hardware(hw, count):
    """The counter that a count is held against; None: this kernel has none."""
    if count == "lds_wavefronts" and hw.get("smsp__inst_executed_op_ldsm.sum"):
        return hw.get("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")
    if count == "sts_wavefronts" and hw.get("smsp__inst_executed_op_shared_st.sum") == 0:
        return None  # stmatrix is in no counter of stores alone
    if count in ("lds_requests", "sts_requests"):
        return None  # the hardware's also has instructions with no active lane
    return hw.get(EQUAL[count])


def differences(c, hw):
    """(what differs and is not known to, problems of kind error, the x-ray's answer)"""
    x = xray(c)
    if "failed" in x:
        return [x["failed"]], x
    bad = []
    for count in EQUAL:
        want, known = hardware(hw, count), c.get("differs", {}).get(count)
        if want is None:
            continue
        if known and x.get(count) == want:
            bad.append(f"{count} is equal now: {known}")
        if not known and x.get(count) != want:
            bad.append(f"{count} {x.get(count)} hardware {want}")
    bad += [f"{p['kind']}: {p['detail']}" for p in x["problems"]
            if p["severity"] == "error" and p["kind"] not in c.get("problems", {})]
    if x.get("verify", {}).get("ok") is False:
        bad.append("the result is wrong")
    return bad, x


def compare(path):
    data = read(path)
    wrong = 0
    for c in cases:
        bad, x = differences(c, data[label(c)])
        wrong += bool(bad)
        kind = x.get("certificate", {})
        print(f"{'DIFFERS' if bad else 'equal'} {label(c)} ({kind}) {'; '.join(bad)}"[:600])
    print(f"{len(cases) - wrong} of {len(cases)} kernels equal, {wrong} not")
    return wrong > 0


if __name__ == "__main__":
    sys.exit({"measure": measure, "compare": compare}[sys.argv[1]](sys.argv[2]))
