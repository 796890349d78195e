#!/usr/bin/python3
"""`mmtutor frame`: any view at any size, as text and as SVG. TAP. MMTUTOR names the program."""
import os
import subprocess
import sys
import xml.dom.minidom

from wcwidth import wcswidth

PROGRAM = os.path.abspath(os.environ.get("MMTUTOR", "./mmtutor"))
VIEWS = ("home", "help", "lesson/tiling", "lesson/tiling:2", "sim/cuda/tiled:5")
results = []


def frame(*args, env=None):
    done = subprocess.run([PROGRAM, "frame", *args], capture_output=True, timeout=200, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr.decode()


def test(name):
    def add(function):
        try:
            function()
            results.append((name, None))
        except AssertionError as fault:
            results.append((name, str(fault) or "failed"))
    return add


@test("every view is exactly as large as asked, in both languages")
def _():
    for view in VIEWS:
        for lang in ("en", "zh"):
            for cols, rows in ((1, 1), (2, 3), (39, 9), (80, 24), (150, 36)):
                code, out, err = frame(view, "--size", f"{cols}x{rows}", "--lang", lang)
                assert code == 0 and not err, f"{view} {cols}x{rows}: {code} {err}"
                lines = out.decode().split("\n")
                assert lines.pop() == "" and len(lines) == rows, f"{view} {cols}x{rows}: rows"
                for line in lines:
                    assert wcswidth(line) == cols, f"{view} {cols}x{rows} {lang}: {line!r}"


@test("UTF-8 whatever the locale; --ascii is ASCII in English and has no glyphs in Chinese")
def _():
    usual = frame("lesson/tiling", "--lang", "zh")[1]
    assert frame("lesson/tiling", "--lang", "zh", env={"LC_ALL": "C"})[1] == usual, "locale"
    for view in VIEWS:
        out = frame(view, "--ascii", "--lang", "en", "--size", "150x36")[1]
        assert out.isascii(), f"{view}: {[c for c in out.decode() if ord(c) > 127][:9]}"
        out = frame(view, "--ascii", "--lang", "zh", "--size", "150x36")[1].decode()
        other = [c for c in out if ord(c) > 127 and wcswidth(c) != 2]
        assert not other, f"{view}: {other[:9]}"


@test("no escape sequence in any theme")
def _():
    for theme in ("dark", "light", "contrast", "mono"):
        code, out, _err = frame("home", "--theme", theme)
        assert code == 0 and b"\x1b" not in out, theme


@test("SVG is well-formed, every text with its own x and textLength")
def _():
    for view in VIEWS:
        for lang in ("en", "zh"):
            code, out, err = frame(view, "--svg", "--lang", lang, "--size", "120x36")
            assert code == 0, err
            texts = xml.dom.minidom.parseString(out).getElementsByTagName("text")
            assert texts, view
            for text in texts:
                assert text.hasAttribute("x") and text.hasAttribute("textLength"), text.toxml()


@test("bad options are refused with a sentence and exit code 2")
def _():
    for args in ((), ("--size", "80x24"), ("home", "--size", "0x5"), ("home", "--size", "80"),
                 ("home", "--size", "80x24x"), ("home", "--size"), ("home", "--lang", "fr"),
                 ("home", "--theme", "pink"), ("home", "--pane", "left"), ("home", "--nonsense"),
                 ("home", "help"), ("home", "--svg", "--check")):
        code, out, err = frame(*args)
        assert code == 2 and err.startswith("mmtutor") and not out, f"{args}: {code} {out} {err}"


@test("a view or a result that is not there is a failure with a sentence")
def _():
    for args in (("nosuch",), ("lesson/nosuch",), ("lesson/tiling:nosuch",), ("sim/cuda/nosuch:1",),
                 ("home", "--live", "/nonexistent.json")):
        code, out, err = frame(*args)
        assert code == 1 and err and not out, f"{args}: {code} {out!r} {err}"


@test("--check finds nothing clipped at any size")
def _():
    code, out, err = frame("--check")
    assert code == 0, out.decode()[-2000:] + err
    assert b" frames checked, 0 faults" in out, out[-200:]


for number, (label, fault) in enumerate(results, 1):
    print(f"{'not ok' if fault else 'ok'} {number} - {label}")
    for row in (fault or "").splitlines():
        print("# " + row)
print(f"1..{len(results)}")
sys.exit(any(fault for _, fault in results))
