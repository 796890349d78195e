#!/usr/bin/env python3
"""Makes a record for assets/recorded from what a machine measured.

make_record.py RUNS.jsonl NOTE > assets/recorded/h200.json

RUNS.jsonl holds one object a line: `mmtutor roofline --json` once, and any number of `mmtutor run --json`
lines. A run stays if it was verified; of several of one kernel, sizes and parameters the last stays. A
roof is the best of its probe and of the runs that are held by it."""
import json
import sys

SAMPLED_MS = 500  # what was sampled for less only proves that a shape is right


def roofs_of(line, runs):
    out = []
    for kind, unit, name, value in (("bandwidth", "B/s", "level", "gbs"),
                                    ("compute", "FLOP/s", "unit", "gflops")):
        for r in line[kind]:
            best = r[value] * 1e9
            for run in runs:
                if run.get("roof", {}).get("name") == r["label"]:
                    best = max(best, run[value] * 1e9)
            out.append({"name": r[name], "label": r["label"], "unit": unit, "value": best,
                        "spread": r["spread"], "theoretical": r["theoretical"] * 1e9})
    return {"schema": 1, "device": line["device"], "date": line["date"], "roofs": out}


def main():
    lines = [json.loads(text) for text in open(sys.argv[1]) if text.strip()]
    roofline = [x for x in lines if "bandwidth" in x][-1]
    runs = {}
    for r in lines:
        if not r.get("verify", {}).get("ok") or "median_ms" not in r:
            continue
        if r["device"].get("compiler", "").startswith("driver JIT"):
            continue
        if sum(r["samples_ms"]) * r["launches_per_sample"] < SAMPLED_MS:
            continue
        runs[(r["kernel"], json.dumps(r["params"]), r["M"], r["N"], r["K"])] = r
    kept = list(runs.values())
    roofs = roofs_of(roofline, kept)
    value = {r["label"]: r["value"] for r in roofs["roofs"]}
    for r in kept:
        roof = r.get("roof")
        if roof and roof["name"] in value:
            own = (r["gbs"] if roof["unit"] == "B/s" else r["gflops"]) * 1e9
            roof["value"], roof["share"] = value[roof["name"]], own / value[roof["name"]]
        r["warnings"] = [w for w in r.get("warnings", []) if "roof raised" not in w]
    head = {"schema": 1, "device": roofline["device"], "date": roofline["date"],
            "note": sys.argv[2], "roofs": roofs}
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',\n"runs":[\n'
    text += ",\n".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in kept)
    print(text + "]}")


main()
