#!/usr/bin/python3
"""Every sentence that the layers below the screen make has a Chinese one in assets/sentences.json.

The format strings are taken from the sources, filled with sample values and matched as
src/base/sentences.c does it. A new sentence needs a template there, or, if only developers and
lesson authors ever see it, a line in ALLOWED."""
import glob, json, os, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Layers whose sentences reach the screen, and the files of app and ui that make English ones.
FILES = ["src/base/*.c", "src/kernels/*.c", "src/sim/*.c", "src/sim/*/*.c", "src/lesson/*.c", "src/bench/*.c",
         "src/app/values.c", "src/ui/ui.c", "src/ui/live.c", "src/ui/live_form.c", "src/ui/live_plan.c",
         "src/ui/live_draw.c", "src/ui/live_result.c", "src/ui/simview.c", "src/ui/simview_form.c",
         "src/ui/simview_formula.c"]

# Files whose texts are never shown on a Chinese screen.
OTHERS = {
    "src/base/alloc.c": "the last line of a process without memory",
    "src/base/utf8.c": "ASCII forms of signs",
    "src/bench/cubin_cache.c": "the format of a file, and the log",
    "src/bench/host.c": "reads /proc; assembly",
    "src/bench/recorded.c": "the shipped record, held by a test of its own",
    "src/bench/tools.c": "mmtutor doctor",
    "src/lesson/lesson_check.c": "mmtutor check, for authors",
    "src/lesson/phrases.c": "in both languages already",
}

# Texts that are no sentences for a learner: names, formats of files, code, logs.
ALLOWED = {
    "src/base/sentences.c": ["the sentences must be a list [...]"],
    "src/bench/cuda_build.c": ["driver JIT (shipped PTX)", "cached kernel refused with %d; compiling again",
                               "NVRTC %s%s", " (PTX, driver JIT)"],
    "src/bench/cuda_fault.c": ["no text"],
    "src/bench/cuda_info.c": ["CUDA %d.%d"],
    "src/bench/dev_cpu.c": ["clang %d.%d.%d", "gcc %d.%d.%d", "cc -O3, at run time"],
    "src/bench/dev_cuda.c": ["NVRTC %s", "driver JIT (shipped PTX)", "driver %.40s"],
    "src/bench/nvrtc.c": ["NVRTC: %s."],
    "src/bench/ptx_build.c": ["): error: ", "): catastrophic error: ", "): error #", "Input name expression was: \"",
                              "Compiling entry function '", " bytes stack frame", " bytes spill stores",
                              " bytes spill loads", " bytes smem", "Function properties"],
    "src/bench/xray_build.c": ["a PTX file", "shipped PTX"],
    "src/bench/xray_occupancy.c": ["shared memory"],
    "src/sim/xray/memory.c": ["shared memory", "local memory", "constant memory"],
    "src/bench/nvml.c": ["NVML: %s", "libnvidia-ml.so.1 is not here"],
    "src/bench/ref_cblas.c": ["OpenBLAS %95s", " (not %s)", "%.44s, %d thread%s"],
    "src/bench/roofs.c": ["%s, %d thread%s", "DRAM copy", "FP32 FMA"],
    "src/bench/xray_args.c": [" (floating point)", "--op copy "],
    "src/bench/xray_build.c": ["a PTX file", "shipped PTX"],
    "src/bench/worker.c": ["mmtutor worker: %s\n"],
    "src/bench/worker_out.c": ["\n(More was printed; only the first 256 KiB are shown.)\n"],
    "src/ui/live_draw.c": ["%lld × %lld × %lld"],
    "src/ui/live_result.c": ["%d thread%s", ", driver ", "%s, n %d, %s, kernel %.8s", "%.3g ms", "  %.3g KiB shared",
                             "  %d B spilled", "max(|c - ref| / sum|a||b|) <= 8 sqrt(K) u", "%.4g ms  n %d", "%.4g ms",
                             "%s %.3g ms", "  %s %.3g ms", "%.17g %s / %.6g ms"],
    "src/kernels/front.c": ["/* mmtutor"],
    "src/kernels/kernel.c": ["no op"],
}

# What src/sim/xray/exec_refuse.c calls an instruction.
REFUSED = (
    "TMA copies are not run by the x-ray",
    "Bulk copies are not run by the x-ray; with --arch compute_80 cuda::memcpy_async makes none", "wgmma works on 4 warps at once and is not run by the x-ray",
    "tcgen05 works on 4 warps at once and is not run by the x-ray",
    "setmaxnreg moves registers between warps and is not run by the x-ray",
    "Thread block clusters are not run by the x-ray", "Textures and surfaces are not run by the x-ray",
    "This form of the matrix instruction is not run by the x-ray", "Grid-wide synchronisation is not run by the x-ray",
    "Calls of functions that were not inlined are not supported yet",
    "Asynchronous copies (cp.async) are not supported yet", "This instruction is not supported yet")

# What formats whose parts are chosen elsewhere come to.
WHOLE = {
    "%s needs %s %s %s%s; %s%s%s.%s": [
        "cuda/naive needs M*K <= 2147483647 (it indexes with int); 50000*50000 = 2500000000. Take smaller sizes",
        "cuda/naive needs M <= 2147483647 (it indexes with int); 2147483648 is not. Take smaller sizes",
        "cuda/naive needs ceil(M/T) <= 65535 (CUDA's limit for a grid in y and z); ceil(M/8) = 70000. Take smaller sizes",
        "cuda/x needs M <= 9; 10 is not. Take smaller sizes", "cuda/x needs M*N <= 9; 2*5 = 10. Take smaller sizes",
        "cuda/x needs M >= 9; 8 is not.", "cuda/x needs M+N >= 9; 3+5 = 8."],
    " (it indexes with int)": [], " (CUDA's limit for a grid in y and z)": [], " is not": [], " Take smaller sizes": [],
    "Cannot %s %s: %s. %s": ["Cannot %s /x: Permission denied. Check the name." % w for w in
                             ("read", "open", "write", "use the directory", "make the directory", "move aside", "lock")],
    "use the directory": [], "make the directory": [], "move aside": [],
    "%s is %s and not a file. Give the name of a file.": [
        "/x is a directory and not a file. Give the name of a file.",
        "/x is a pipe or a device and not a file. Give the name of a file."],
    "a directory": [], "a pipe or a device": [],
    "(line break)": ["The character (line break) cannot be read here; use digits 0-9, + - * / ^ ( ) and a unit."],
    "\"%s\" cannot be read as a number": ["\"x\" cannot be read as a number: Column 1: division by zero."],
    "%s, requirement %s": ["cuda/x, requirement M<K: Column 1: division by zero."],
    "%s, smem": ["cuda/x, smem: Column 1: division by zero."],
    "The worker ended%s%s while %s.": ["The worker ended while it ran cuda/x.",
                                       "The worker ended with exit code 3 while it ran cuda/x."],
    "at M %lld, N %lld, K %lld": ["at M 3, N 5, K 7: C[1,2] is NaN"],
    "after the last sample": ["after the last sample: C[1,2] is NaN"],
    "machine code": [], "none at all": ["no kernel 'x'; there are none at all"],
    "\"%s\" is no id: use a-z, 0-9 and -%s, at most 63, not only digits": [
        "\"x\" is no id: use a-z, 0-9 and -, at most 63, not only digits",
        "\"x\" is no id: use a-z, 0-9 and - and ., at most 63, not only digits"],
    " If it is a template, name its arguments, as in --entry 'name<32>'.": [
        "There is no kernel 'x': xy. If it is a template, name its arguments, as in --entry 'name<32>'."],
    "%.80s is a template <%.200s>. Name its arguments, as in --entry '%.80s<...>'%s%.400s.": [
        "x is a template <int T>. Name its arguments, as in --entry 'x<...>'.",
        "x is a template <int T>. Name its arguments, as in --entry 'x<...>'. The file launches: x<8>, x<16>."],
    ". The file launches: ": [], "; it is not in ": [], ", and none was found": [],
    "%.200s:%d includes %.200s, which only a CUDA toolkit has%s%.200s. Install its headers, or set CUDA_HOME "
    "to a toolkit that has them.": ["a.cu:7 includes <mma.h>, which only a CUDA toolkit has, and none was found. Install its headers, or "
                 "set CUDA_HOME to a toolkit that has them."],
    "%s: %.*s (PTX line %d).": [w + ": xy (PTX line 7)." for w in REFUSED],
    **{w: [] for w in REFUSED},
    **{"%s %d bytes " + tail: [verb + " 7 bytes " + sample_of for verb in ("Reads", "Writes", "Updates", "Copies")]
       for tail, sample_of in (
           ("at address %lld: a null pointer.", "at address 7: a null pointer."),
           ("at address %#llx, where no array is.", "at address 0x7, where no array is."),
           ("of %s at byte %lld; it has %lld bytes.", "of A at byte 7; it has 7 bytes."),
           ("of %s at byte %lld; there are %lld bytes.", "of shared memory at byte 7; there are 7 bytes."),
           ("of %s at byte %lld, which is no multiple of %d.", "of A at byte 7, which is no multiple of 4."))},
    "Thread %s %s shared memory at byte %lld, which thread %s %s at line %d with no %s between them.": [
        "Thread (1, 0, 0) %s shared memory at byte 7, which thread (2, 0, 0) %s at line 7 with no __syncthreads between "
        "them." % pair for pair in (("reads", "wrote"), ("writes", "wrote"), ("writes", "read"))],
    "%s %s at byte %lld, which %s %s%s in the same launch: the order of blocks is not defined.": [
        "%s A at byte 7, which %s %s%s in the same launch: the order of blocks is not defined." % (now, block, then, line)
        for now, then in (("Reads", "wrote"), ("Writes", "wrote"), ("Writes", "read"))
        for block in ("block (1, 0, 0)", "another block") for line in (" at line 7", "")],
    "%s %s at byte %lld, which thread %s of the same block %s%s with no __syncthreads between them.": [
        "%s A at byte 7, which thread (1, 0, 0) of the same block %s%s with no __syncthreads between them." %
        (now, then, line) for now, then in (("Reads", "wrote"), ("Writes", "wrote"), ("Writes", "read"))
        for line in (" at line 7", "")],
    " at line %d": [], "another block": [], "block (%lld, %lld, %lld)": [],
    "a kernel": ["it looked into a kernel"],
    "%s shared memory at byte %lld, which thread (%lld, %lld, %lld) %s at line %d: no %s orders the two.": [
        "%s shared memory at byte 7, which thread (1, 0, 0) %s at line 7: no barrier orders the two." % pair
        for pair in (("Reads", "wrote"), ("Writes", "wrote"), ("Writes", "read"))],
    "%s shared memory at byte %lld, where the cp.async of thread (%lld, %lld, %lld) at line %d still copies to: no "
    "cp.async.wait of that thread came between.": [
        verb + " shared memory at byte 7, where the cp.async of thread (1, 0, 0) at line 7 still copies to: no "
        "cp.async.wait of that thread came between." for verb in ("Reads", "Writes")],
    "Waits for ever at the mbarrier at byte %lld of shared memory: its phase lacks %u of %u arrivals%s, and no other "
    "warp can run.": ["Waits for ever at the mbarrier at byte 7 of shared memory: its phase lacks 7 of 9 arrivals" + more +
                      ", and no other warp can run." for more in ("", " and 7 bytes")],
    " and %d bytes": [],
    " and .": [], "block row": ["block row: Column 1: division by zero."],
    "block column": ["block column: Column 1: division by zero."],
    "%s does not run on %s. %s": ["cuda/x does not run on cpu. No NVIDIA driver: libcuda.so.1 is not here.",
                                  "cuda/x does not run on cpu. "],
}

SPEC = re.compile(r"%(?:%|[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?([a-zA-Z]))")


def literals(path):
    """The string literals of a C file, those that follow each other as one, PRI macros filled in."""
    text = open(os.path.join(ROOT, path), encoding="utf-8").read()
    token = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\])*\'|"((?:\\.|[^"\\])*)"|PRI([dux])\w+|\s+|\w+|.', re.S)
    found, run = [], None
    for m in token.finditer(text):
        if m.group(1) is not None:
            run = (run or "") + m.group(1)
        elif m.group(2) and run is not None:
            run += m.group(2)
        elif not m.group(0).isspace() and not m.group(0).startswith(("/*", "//")):
            if run is not None:
                found.append(run)
            run = None
    simple = {"n": "\n", "t": "\t"}
    return [re.sub(r"\\(.)", lambda m: simple.get(m.group(1), m.group(1)), s) for s in found]


def sample(fmt):
    def value(m):
        kind = m.group(1) or "%"
        return {"%": "%", "s": "xy", "c": "M"}.get(kind, "1.5" if kind in "efgEFG" else "7")
    return SPEC.sub(value, fmt)


def is_sentence(text):
    words = SPEC.sub("", text)
    if "\n" in text.strip() or text.startswith(("#", ".")):
        return False  # code
    return " " in words.strip() and re.search("[A-Za-z]{2}", words)


class Book:
    def __init__(self):
        with open(os.path.join(ROOT, "assets/sentences.json"), encoding="utf-8") as f:
            self.rows = json.load(f)
        self.rules = []
        for row in self.rows:
            parts = re.split(r"\{[0-7]\}", row["en"])
            weight = sum(len(p) for p in parts)
            self.rules.append((weight, re.compile("(.+?)".join(map(re.escape, parts)) + r"\Z", re.S)))

    def knows(self, text):
        if any(rule.match(text) for _, rule in self.rules):
            return True
        if text.endswith(".") and any(rule.match(text[:-1]) for _, rule in self.rules):
            return True
        head, colon, rest = text.partition(": ")
        if colon and ". " not in head and self.knows(rest):
            return True
        pieces = re.split(r'(?<=\.) (?=[A-Z"`])', text)
        return len(pieces) > 1 and all(self.knows(p) for p in pieces)


def files():
    found = []
    for pattern in FILES:
        found += sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, pattern)))
    return [p for p in found if p not in OTHERS]


def missing_in(path, book):
    missing = []
    for text in literals(path):
        if not is_sentence(text) or text in ALLOWED.get(path, []):
            continue
        for one in WHOLE.get(text, [sample(text)]):
            if not book.knows(one):
                missing.append(text if one == sample(text) else one)
    return missing


def main():
    book, n, failed = Book(), 0, 0
    total = 0

    def report(name, faults):
        nonlocal n, failed
        n += 1
        failed += bool(faults)
        print("%s %d - %s" % ("not ok" if faults else "ok", n, name))
        for f in faults:
            print("# no template in assets/sentences.json: %r" % f)

    for path in files():
        total += sum(bool(is_sentence(t)) for t in literals(path))
        report("%s: every sentence has a template" % path, missing_in(path, book))
    report("the sources have been read", [] if total > 300 else ["only %d texts were found" % total])
    seen = {t for p in files() for t in literals(p)}
    report("nothing is allowed that the sources lack",
           sorted(t for p in ALLOWED for t in ALLOWED[p] if t not in literals(p)) +
           sorted(t for t in WHOLE if t not in seen))
    english = [r["en"] for r in book.rows]
    report("no template stands twice", sorted({e for e in english if english.count(e) > 1}))
    report("both languages have the same places",
           [r["en"] for r in book.rows
            if set(re.findall(r"\{(\d)\}", r["en"])) != set(re.findall(r"\{(\d)\+?\}", r["zh"]))])
    report("Chinese sentences end in Chinese punctuation",
           [r["zh"] for r in book.rows if r["zh"].endswith((".", ":", ";", ","))
            and not r["zh"].endswith("...")])
    print("1..%d" % n)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
