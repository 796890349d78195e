#!/usr/bin/python3
"""The shape of the source: layers, names, sizes. Reads the files and, for names, the built objects in $B.

TAP. Each check lists every offender."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.join(ROOT, os.environ.get("B", "build/release"))
LAYERS = ["base", "kernels", "sim", "lesson", "bench", "app", "ui"]
BLIND = {("sim", "lesson"), ("lesson", "sim")}  # these two do not see each other
LONGEST_FUNCTION, LONGEST_FILE, LONGEST_LINE = 80, 600, 100
# Kernels that are compiled once for each instruction-set level and found by a generated table.
RUNGS = "src/kernels/cpu/"
# Names of another file: tables of a type that are named after its header, and second files of one module whose
# functions are declared with the first's.
OTHER_NAMES = {"src/bench/dev_cuda.c": "device_", "src/bench/dev_cpu.c": "device_", "src/bench/dev_null.c": "device_",
               "src/ui/live_plan.c": "live_", "src/ui/live_draw.c": "live_", "src/ui/simview_draw.c": "simview_",
               "src/sim/walk/count.c": "walk_"}
# These still have wider lines; the list only gets shorter.
WIDE = {"src/bench/device.h", "src/bench/result.h", "src/kernels/cpu/fma.c", "src/kernels/cpu/ikj.c", "src/kernels/cuda/tiled.cu",
        "src/kernels/kernel.h", "src/sim/walk/count.c", "src/sim/walk/count.h", "src/sim/walk/walk.h", "src/ui/live.h",
        "src/ui/live_draw.c", "src/ui/live_draw.h", "src/ui/live_form.c", "src/ui/live_form.h", "src/ui/live_plan.c",
        "src/ui/live_plan.h", "src/ui/simview.c", "src/ui/simview.h", "src/ui/simview_draw.c", "src/ui/simview_draw.h",
        "src/ui/simview_form.h", "src/ui/simview_formula.h", "tests/unit/sim_walk_test.c"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def tracked():
    """Files of the project: those git knows; without git, those below the usual directories."""
    try:
        out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
        names = [n for n in out.decode().split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        for top in ("src", "tests", "lessons", "assets", "scripts", "docs", "man", "completions"):
            for d, _, files in os.walk(os.path.join(ROOT, top)):
                names += [os.path.relpath(os.path.join(d, f), ROOT) for f in files]
    return sorted(n for n in names if os.path.isfile(os.path.join(ROOT, n)))


def source(names):
    return {n: read(n) for n in names if n.startswith("src/") and n.endswith((".c", ".h", ".cu"))}


def layer_of(path):
    part = path.split("/")
    return part[1] if len(part) > 2 else "main"


def includes(text):
    return re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M)


def strip_c(text):
    """Comments and strings become blanks; lines stay where they are."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


# ---- checks: each takes {path: text} and gives a list of faults

def layers(files):
    bad = []
    for path, text in files.items():
        mine = layer_of(path)
        for name in includes(text):
            other = name.split("/")[0]
            if "/" not in name or other not in LAYERS or mine == "main":
                continue
            if LAYERS.index(other) > LAYERS.index(mine) or (mine, other) in BLIND:
                bad.append(f"{path} includes {name}: {mine} may not see {other}")
    return bad


def curses(files):
    return [f"{p} includes {n}: curses is for src/ui/term.c alone" for p, t in files.items() for n in includes(t)
            if re.search(r"(^|/)n?curses[^/]*\.h$|^term\.h$|^ncursesw/", n) and p != "src/ui/term.c"]


def libraries(files):
    bad = []
    for path, text in files.items():
        if layer_of(path) == "bench" or path.endswith(".cu"):
            continue
        code = strip_c(text)
        bad += [f"{path}: {m} is for src/bench alone"
                for m in re.findall(r"\b(dlopen|dlsym|cu[A-Z][a-z]\w*|CU[a-z]\w*|nvrtc[A-Z]\w*|nvml[A-Z]\w*|cublas[A-Z]\w*)\b", code)]
        bad += [f"{path} includes {n}" for n in includes(text) if re.match(r"(dlfcn|cuda|nvrtc|nvml|cublas)", n)]
    return bad


def own_header(files):
    bad = []
    for path, text in files.items():
        if not path.endswith(".c") or path.startswith(RUNGS) or path == "src/main.c":
            continue
        header = path[:-2] + ".h"
        if header not in files:
            bad.append(f"{path} has no header of its name")
        elif includes(text)[:1] != [header[len("src/"):]]:
            bad.append(f"{path} includes its own header not first")
    return bad


def functions(text):
    """(name, lines) of every function in LLVM layout: it begins in column 1 and ends with a } there."""
    start = name = None
    for i, line in enumerate(strip_c(text).split("\n"), 1):
        if start is None and re.match(r"[A-Za-z_]", line) and not line.rstrip().endswith(";"):
            start, name = i, None
        if start is not None:
            m = re.search(r"(\w+)\s*\(", line)
            name = name or (m and m.group(1))
            if line.startswith("}") or line.rstrip().endswith(";") and not line.startswith((" ", "\t")):
                if line.startswith("}") and name and not line.startswith("};"):
                    yield name, i - start + 1
                start = None


def long_functions(files):
    return [f"{p}: {n} has {size} lines" for p, t in files.items() if p.endswith(".c")
            for n, size in functions(t) if size > LONGEST_FUNCTION]


def long_files(files):
    return [f"{p} has {t.count(chr(10))} lines" for p, t in files.items() if t.count("\n") > LONGEST_FILE]


def long_lines(files):
    return [f"{p}:{i} has {len(line)} columns" for p, t in files.items()
            for i, line in enumerate(t.split("\n"), 1) if len(line) > LONGEST_LINE and p not in WIDE]


# Written in pieces, so that this file does not find itself.
PLACES = re.compile("|".join([r"(?<![\w.])/wo" + r"rk/", r"(?<![\w.])/ro" + r"ot/", "pypi" + r"\.org", "registry" + r"\.npm",
                              "docker" + r"\.io", "ghcr" + r"\.io", "files\\.python" + "hosted", "artifact" + "ory"]), re.I)


def places(files):
    return [f"{p}:{t.count(chr(10), 0, m.start()) + 1} names {m.group()}" for p, t in files.items()
            for m in PLACES.finditer(t)]


def documents(text):
    """Files and functions that ARCHITECTURE.md and CONTRIBUTING.md name in code type must be there."""
    bad = []
    words = set()
    for p, t in text.items():
        if p.endswith((".c", ".h", ".json", ".sh", ".py", ".cu")) or p == "Makefile":
            words |= set(re.findall(r"\w+", t))
    paths = "\n".join(text) + "\n"
    for doc in ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/counting.md"):
        for name in re.findall(r"`([a-z][\w./*-]*)`", text.get(doc, "")):
            if re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", name):
                if name not in words:
                    bad.append(f"{doc} names {name}, which is nowhere")
            elif not re.search("[A-Z]", name) and re.search(r"\.(c|h|sh|py|md|json)$", name) and not re.search(rf"(^|/){re.escape(name)}$", paths, re.M):
                bad.append(f"{doc} names the file {name}, which is not there")
    return bad


def exported(objects):
    """objects: {source path: [exported names]}."""
    bad = []
    for path, names in objects.items():
        stem = os.path.basename(path)[:-2]
        allowed = (stem + "_", OTHER_NAMES.get(path, stem + "_"))
        bad += [f"{path} exports {n}" for n in names if n.split(".")[0] != stem and not n.startswith(allowed)]  # f.resolver chooses among the clones of f
    return bad


def objects():
    found = {}
    for d, _, files in os.walk(os.path.join(B, "src")):
        for f in files:
            path = os.path.relpath(os.path.join(d, f), B)[:-2] + ".c"
            if not f.endswith(".o") or path == "src/main.c" or not os.path.exists(os.path.join(ROOT, path)):
                continue
            out = subprocess.run(["nm", "-g", "--defined-only", "-P", os.path.join(d, f)], capture_output=True,
                                 text=True, check=True).stdout
            names = [line.split() for line in out.splitlines()]
            # Behind a dot stands what the compiler makes of a function: NAME.resolver, NAME.avx2.
            found[path] = [n[0].split(".")[0] for n in names if n[1] in "TDBRCVW" and not n[0].startswith(("__", "_sub_"))]
    return found


# ---- each check must be able to fail

def self_check():
    want = [
        (layers, {"src/base/x.c": '#include "ui/canvas.h"\n'}), (layers, {"src/sim/x.c": '#include "lesson/lesson.h"\n'}),
        (curses, {"src/ui/canvas.c": "#include <ncurses.h>\n"}),
        (libraries, {"src/app/x.c": "void *p = dlopen(0, 1);\n"}), (libraries, {"src/ui/x.c": "int f(CUdevice d);\n"}),
        (own_header, {"src/base/x.c": "int a;\n"}), (own_header, {"src/base/x.c": '#include <a.h>\n#include "base/x.h"\n', "src/base/x.h": ""}),
        (long_functions, {"src/base/x.c": "static int f(int a,\n  int b) {\n" + "  a++;\n" * 90 + "}\n"}),
        (long_files, {"src/base/x.c": "\n" * 601}), (long_lines, {"src/base/x.c": "x" * 101}),
        (places, {"a.md": "see /wo" + "rk/main"}), (documents, {"ARCHITECTURE.md": "`old_name`"}),
        (documents, {"ARCHITECTURE.md": "`src/gone.c`"}), (exported, {"src/base/str.c": ["string_new"]}),
    ]
    good = [(layers, {"src/ui/x.c": '#include "base/str.h"\n'}), (libraries, {"src/ui/x.c": '/* dlopen */ char *s = "CUdevice";\n'}),
            (long_functions, {"src/base/x.c": "int t[] = {\n" + "  1,\n" * 90 + "};\n"}), (exported, {"src/base/str.c": ["str_add", "str"]})]
    return ([f"{c.__name__} does not see its fault" for c, f in want if not c(f)] +
            [f"{c.__name__} sees a fault where none is" for c, f in good if c(f)])


def main():
    names = tracked()
    src = source(names)
    text = {}
    for n in names:
        if not n.endswith((".png", ".svg")):
            try:
                text[n] = read(n)
            except UnicodeDecodeError:
                pass
    code = {n: t for n, t in text.items() if n.endswith((".c", ".h", ".cu")) and n.startswith(("src/", "scripts/", "tests/"))}
    built = objects()
    checks = [
        ("the checks see their faults", self_check()),
        ("a layer sees only those below it", layers(src)),
        ("curses is in src/ui/term.c alone", curses(src)),
        ("dlopen and CUDA are in src/bench alone", libraries(src)),
        ("every .c has its header and includes it first", own_header(src)),
        (f"no function of src is longer than {LONGEST_FUNCTION} lines", long_functions(src)),
        (f"no file of src is longer than {LONGEST_FILE} lines", long_files(src)),
        (f"no line of C is longer than {LONGEST_LINE} columns", long_lines(code)),
        ("what the documents name is there", documents(text)),
        ("no file names a machine's directories or a registry", places(text)),
    ]
    if built:
        checks.append(("exported names begin with their file's name", exported(built)))
    n = 0
    for n, (name, faults) in enumerate(checks, 1):
        print(f"{'not ok' if faults else 'ok'} {n} - {name}")
        for f in faults[:40]:
            print(f"#   {f}")
    if not built:
        n += 1
        print(f"ok {n} - exported names begin with their file's name # SKIP no objects in {B}")
    print(f"1..{n}")
    return any(f for _, f in checks)


sys.exit(main())
