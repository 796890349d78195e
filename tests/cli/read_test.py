#!/usr/bin/python3
"""`mmtutor read`, `mmtutor check` and the plain tutor, as their users call them."""
import json, os, shutil, subprocess, sys, tempfile, unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTUTOR = os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor"))
GOOD = os.path.join(ROOT, "tests/fixtures/lessons/good")
LIMIT = 60.0
tests = []


def test(f):
    tests.append(f)
    return f


class Home:
    """A home and a data directory of its own, with the fixture as lesson 06-tiling."""

    def __enter__(self):
        self.dir = tempfile.mkdtemp()
        self.lesson = os.path.join(self.dir, "data/lessons/06-tiling")
        shutil.copytree(GOOD, self.lesson)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "LC_", "LANG"))}
        self.env.update(HOME=self.dir, MMTUTOR_DATA=os.path.join(self.dir, "data"), LC_ALL="C.UTF-8", TERM="dumb")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)

    def mm(self, *args, typed=None, **env):
        p = subprocess.run([MMTUTOR, *args], input=typed.encode() if typed is not None else b"",
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, env={**self.env, **env})
        p.text = p.stdout.decode()
        p.err = p.stderr.decode()
        return p


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def clean(text, also="\uFFFD"):
    bad = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in also]
    assert not bad, bad


@test
def every_lesson_fits_its_width():
    with Home() as h:
        shipped = [d for d in os.listdir(os.path.join(ROOT, "lessons")) if d[:2].isdigit()]
        assert shipped
        for lesson in shipped:
            for lang in "en", "zh":
                for width in 40, 80:
                    p = h.mm("read", lesson, "--lang", lang, "--width", str(width), "--answers", MMTUTOR_DATA=ROOT)
                    assert p.returncode == 0, p.err
                    clean(p.text)
                    wide = [l for l in p.text.splitlines() if columns(l) > width]
                    assert not wide, (lesson, lang, width, wide)


@test
def all_steps_are_there():
    with Home() as h:
        p = h.mm("read", "tiling")
        assert p.returncode == 0, p.err
        for i in range(1, 9):
            assert f"Step {i} of 8" in p.text
        assert "T = 4." in p.text and "3 steps" in p.text          # expressions of the prose
        assert "17.2 GB" in p.text                                 # in a table, in bold
        assert "Literal: `{{not | evaluated}}`" in p.text
        assert "Predict before you run: How much faster?" in p.text
        assert "Simulator: cuda/tiled, M = 12, N = 12, K = 12, T = 4." in p.text
        assert "__global__" in p.text                              # the code of the code step
        assert "Answer:" not in p.text


@test
def answers_only_when_asked_for():
    with Home() as h:
        a, b = h.mm("read", "tiling", "--answers"), h.mm("read", "tiling", "--answers")
        assert "Answer: " in a.text and a.text == b.text


@test
def one_step_and_other_names():
    with Home() as h:
        full = h.mm("read", "06-tiling").text
        assert h.mm("read", "6").text == full
        p = h.mm("read", "tiling:moved")
        assert p.returncode == 0 and "Step 2 of 8" in p.text and "Step 1" not in p.text
        assert h.mm("read", "tiling:2").text == p.text


@test
def utf8_in_any_locale_and_ascii_when_asked():
    with Home() as h:
        for lang in "en", "zh":
            utf8 = h.mm("read", "tiling", "--lang", lang).stdout
            assert h.mm("read", "tiling", "--lang", lang, LC_ALL="C").stdout == utf8
            assert h.mm("read", "tiling", "--lang", lang, LC_ALL="POSIX", TERM="").stdout == utf8
        for lesson in "tiling", "flops":
            p = h.mm("read", lesson, "--ascii", "--lang", "en", "--answers", MMTUTOR_DATA=ROOT)
            assert p.returncode == 0 and all(b < 0x80 for b in p.stdout), [c for c in p.text if ord(c) > 127]
        p = h.mm("read", "tiling", "--ascii", "--lang", "zh")
        assert "样例" in p.text and "×" not in p.text


@test
def the_language_follows_the_locale():
    with Home() as h:
        assert "样例" in h.mm("read", "tiling", LC_ALL="zh_CN.UTF-8").text
        assert "样例" in h.mm("read", "tiling", "--lang", "auto", LC_ALL="", LANG="zh_TW.UTF-8").text
        assert "Fixture" in h.mm("read", "tiling", LC_ALL="de_DE.UTF-8").text
        assert "Fixture" in h.mm("read", "tiling", "--lang", "en", LC_ALL="zh_CN.UTF-8").text


@test
def what_is_not_there_is_said():
    with Home() as h:
        for args, code, word in [(["read", "cooking"], 1, "cooking"), (["read"], 2, "--list"),
                                 (["read", "tiling:nowhere"], 1, "nowhere"), (["read", "tiling", "x"], 2, "--list"),
                                 (["read", "--width", "7", "tiling"], 2, "--width"), (["read", "--wat"], 2, "--wat"),
                                 (["read", "--lang", "fr", "tiling"], 2, "--lang"), (["read", "interview"], 1, "interview")]:
            p = h.mm(*args)
            assert p.returncode == code and word in p.err and not p.text, (args, p.returncode, p.text, p.err)
        p = h.mm("read", "\x1b[2Jx")
        assert p.returncode == 1 and "\x1b" not in p.err


@test
def a_damaged_lesson_does_not_harm_the_others():
    with Home() as h:
        bad = os.path.join(h.dir, "data/lessons/02-flops")
        shutil.copytree(GOOD, bad)
        with open(os.path.join(bad, "lesson.json"), "w") as f:
            f.write('{\n "schema": 1,\n "id": 7\n}')
        p = h.mm("read", "flops")
        assert p.returncode == 1 and "02-flops/lesson.json:3:" in p.err, p.err
        assert h.mm("read", "tiling").returncode == 0
        listed = h.mm("read", "--list").text
        assert "lesson.json:3:" in listed and "Fixture" in listed


@test
def check_names_faults_and_says_how_many():
    with Home() as h:
        p = h.mm("check", os.path.join(h.dir, "data/lessons"))
        assert p.returncode == 0 and p.text == "1 lesson, 8 items, 140 draws: 0 faults\n", p.text
        path = os.path.join(h.lesson, "lesson.json")
        text = open(path).read()
        with open(path, "w") as f:
            f.write(text.replace('"8*n^3/T^2"', '"8.2*n^3/T*1.01"'))
        p = h.mm("check", h.lesson)
        line = next(i for i, l in enumerate(text.splitlines(), 1) if '"fix.bytes"' in l and '"kind": "numeric"' in l)
        assert p.returncode == 1 and f"06-tiling/lesson.json:{line}: " in p.text and p.text.endswith(": 1 fault\n"), p.text
        assert h.mm("check").returncode == 2
        assert h.mm("check", "/nonexistent").returncode == 1


def talk(h, *lines, args=()):
    p = h.mm("--plain", *args, typed="".join(l + "\n" for l in lines))
    assert p.returncode == 0, (p.returncode, p.err)
    clean(p.text, also="")  # what was typed may come back as U+FFFD
    return p.text


@test
def the_plain_tutor_walks_and_remembers():
    with Home() as h:
        out = talk(h, "6", "n", "n")
        assert " 6. Fixture - 0 of 8 steps done" in out and "Step 1 of 8" in out and "Step 3 of 8" in out
        assert "Predict before you run" in out
        out = talk(h, "6")                       # the end of the input ended it quietly; here it goes on
        assert " 6. Fixture - 2 of 8 steps done" in out and "Step 3 of 8" in out and "Step 1" not in out
        state = json.load(open(os.path.join(h.dir, ".local/state/mmtutor/progress.json")))
        assert state["schema"] == 1 and state["lessons"]["tiling"]["at"] == "ask"


@test
def the_plain_tutor_grades():
    with Home() as h:
        out = talk(h, "6", "n", "n", "2x", "n", "n", "h", "many", "1 s", "2*8*(8192)^3", "q")
        assert "Your prediction is 2x" in out
        assert "Step 5 of 8" in out and "bytes of A and B?" in out
        assert "There are no more hints." in out
        assert "You gave s; the question asks for B." in out
        assert "Not yet." in out
        n, t = [int(x.strip().rstrip(":").replace(",", "")) for x in
                [out.split("n = ")[-1].split(", T")[0], out.split(", T = ")[-1].split(":")[0]]]
        assert n in (1024, 2048, 4096, 8192) and t in (8, 16, 32)


@test
def no_run_before_the_prediction():
    with Home() as h:
        out = talk(h, "6", "n", "n", "n", "r", "q")
        assert "Step 4 of 8" in out and "First the prediction" in out and "Running" not in out


@test
def an_experiment_runs_and_is_held_against_the_prediction():
    with Home() as h:
        path = os.path.join(h.lesson, "lesson.json")
        text = open(path).read().replace('"512"', '"96"')
        data = json.loads(text)
        del data["experiments"][0]["cuda"]       # the CPU is everywhere
        json.dump(data, open(path, "w"))
        out = talk(h, "6", "n", "n", "1.5", "n", "r", "q")
        assert "cpu/ijk, M = 96, N = 96, K = 96: " in out and "FLOP/s" in out, out
        assert "Measured here: " in out and "You predicted 1.5; measured over predicted is " in out, out
        assert "the expected range, 1 to 80." in out


@test
def without_a_gpu_the_x_ray_is_asked():
    with Home() as h:
        if not h.mm("doctor").text.count("absent  GPU"):
            return                               # there is one
        path = os.path.join(h.lesson, "lesson.json")
        data = json.load(open(path))
        run = {"kernel": "cuda/naive", "M": 32, "N": 32, "K": 32}
        data["experiments"][0]["xray"] = {
            "runs": [{"as": "a", **run}, {"as": "b", **run, "kernel": "cuda/tiled", "params": {"T": 32}}],
            "ask": {"en": "How many times fewer sectors?", "zh": "几倍？"},
            "quantity": "a.gld_sectors/b.gld_sectors", "unit": "", "band": ["19", "21"]}
        json.dump(data, open(path, "w"))
        out = talk(h, "6", "n", "n", "40", "n", "r", "q")
        flat = " ".join(out.split())
        assert "Predict before you run: How many times fewer sectors?" in flat, out
        # 32^3/32 requests of A and of B: 1 and 4 sectors each; tiled: 2 of 4 for each of 32 warps.
        assert "cuda/naive, M = 32, N = 32, K = 32: 5,120 sectors loaded, 2.5 a request." in flat, out
        assert "T = 32: 256 sectors loaded, 4 a request. Counts of the x-ray, no times." in flat, out
        assert "Counted: 20." in flat and "You predicted 40; counted over predicted is 0.5x." in flat, out
        assert "the expected range, 19 to 21." in flat and "FLOP/s" not in out, out


@test
def odd_lines_are_answered():
    with Home() as h:
        out = talk(h, "", "99", "flops:x", "\x1b[2J", "6", "zzz", "é" * 3000, "m", "6", "q")
        assert '"zzz" is not understood here.' in out.replace("\n", " ")
        h.mm("--plain", typed="6\nn\n\0\xff\n")


@test
def in_chinese_no_sentence_stays_english():
    with Home() as h:
        def said(*lines, **env):
            p = h.mm("--plain", "--lang", "zh", typed="".join(l + "\n" for l in lines), **env)
            assert p.returncode == 0, p.err
            return "".join(p.text.split())  # lines are broken where they are full

        out = said("6", "n", "n", "x", "1,5", "q")
        assert "“x”" in out or "第1列" in out, out
        assert "小数点用点号：写1.5，不写1,5。" in out and "cannot" not in out and "decimal" not in out, out
        state = os.path.join(h.dir, ".local/state/mmtutor/progress.json")
        with open(state, "w") as f:
            f.write("[1")
        out = said("q")
        assert "进度文件已损坏" in out and "progress.json:1:文本结束了，括号还没有关上。" in out, out
        assert "damaged" not in out and "bracket" not in out, out
        path = os.path.join(h.lesson, "lesson.json")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace('"minutes"', '"minutes" 1, "more"', 1))
        out = said("6", "q")
        assert "这一课打不开：" in out and ":键后面少一个冒号。" in out and "colon" not in out, out
        out = "".join(h.mm("read", "--list", "--lang", "zh").text.split())
        assert ":键后面少一个冒号。" in out, out


@test
def without_a_home_chinese_says_so():
    with Home() as h:
        p = h.mm("--plain", "--lang", "zh", typed="q\n", HOME="relative", XDG_STATE_HOME="/dev/null/x")
        assert p.returncode == 0, p.err
        out = "".join(p.text.split())
        assert "进度不会保存" in out and "Nothing" not in out and "Cannot" not in out, out


@test
def a_damaged_table_of_sentences_leaves_english():
    for text in b"[1", b"{}", b"\xff\xfe", b"", b'[{"en":"{0} needs {1}","zh":"{2}"},{"en":3}]':
        with Home() as h:
            os.makedirs(os.path.join(h.dir, "data/assets"), exist_ok=True)
            with open(os.path.join(h.dir, "data/assets/sentences.json"), "wb") as f:
                f.write(text)
            p = h.mm("--plain", "--lang", "zh", typed="6\nn\nn\n1,5\nq\n")
            assert p.returncode == 0 and not p.err, (text, p.returncode, p.err)
            assert "The decimal sign is a point here" in " ".join(p.text.split()), (text, p.text)


def main():
    failed = 0
    for i, f in enumerate(tests, 1):
        try:
            f()
            print(f"ok {i} - {f.__name__}")
        except Exception as e:  # a test that breaks is a test that fails
            failed += 1
            print(f"not ok {i} - {f.__name__}")
            print("# " + (type(e).__name__ + ": " + str(e))[:1500].replace("\n", "\n# "))
    print(f"1..{len(tests)}")
    sys.exit(1 if failed else 0)


main()
