#!/usr/bin/python3
"""Man page, completions and READMEs know every command and option of --help, and no other. TAP."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTUTOR = os.path.abspath(os.environ.get("MMTUTOR", os.path.join(ROOT, "mmtutor")))
# Where each kind of file lists the commands.
PLACES = {
    "completions/mmtutor.bash": lambda t: re.search(r"commands='([^']*)'", t).group(1).split(),
    "completions/_mmtutor": lambda t: re.findall(r"^    '([a-z]+):", t, re.M),
    "completions/mmtutor.fish": lambda t: re.findall(r"-n \$none -a ([a-z]+) ", t),
    "man/mmtutor.1": lambda t: re.findall(r'^\.TP\n\.B[RI]? "?([a-z]+)\b', t[t.index(".SH COMMANDS"):t.index(".SH KEYS")], re.M),
}
FILES = list(PLACES)
failed = n = 0


def help_of(*args):
    return subprocess.run([MMTUTOR, *args, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30).stdout


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def check(what, faults):
    global failed, n
    n += 1
    failed += bool(faults)
    print(f"{'not ok' if faults else 'ok'} {n} - {what}")
    for f in sorted(faults):
        print(f"#   {f}")


def options(text):
    """Long options, and the short ones that sizes have."""
    text = text.replace("\\-", "-")
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) | set(re.findall(r"(?<![\w-])-[MNK](?![\w-])", text))


def words_of(path, text):
    """Options as this kind of file writes them."""
    found = options(text)
    if path.endswith(".fish"):
        found |= {"--" + w for w in re.findall(r"^complete.* -l ([a-z0-9-]+)", text, re.M)}
        found |= {"-" + w for w in re.findall(r" -s ([MNK]) ", text)}
    return found


def commands_of(text):
    return re.findall(r"^  mmtutor ([a-z]+)", text, re.M)


def uses(block):
    """Commands in lines of shell: the first word behind mmtutor that is no option and no option's value."""
    for line in block.split("\n"):
        words = re.sub(r'"[^"]*"', "X", line.split("#")[0]).split()
        if words[:1] != ["mmtutor"]:
            continue
        words.pop(0)
        while words and words[0].startswith("--"):
            del words[:2 if words[0] in ("--lang", "--theme", "--worker") else 1]
        yield from words[:1]


def main():
    top = help_of()
    commands = commands_of(top)
    check("--help has commands and options", set() if len(commands) >= 8 and len(options(top)) >= 8 else {top})
    known = options(top) | {"--help"}
    for c in commands:
        known |= options(help_of(c)) if c not in ("lesson", "worker") else set()
    for path in FILES:
        text = read(path)
        have = words_of(path, text)
        check(f"{path} has every command", set(commands) - set(PLACES[path](text)))
        check(f"{path} has every option", known - have)
        check(f"{path} has no other option", have - known)
    for path in ("README.md", "README.zh-CN.md"):
        if not os.path.exists(os.path.join(ROOT, path)):
            check(f"{path} is there", {path})
            continue
        text = read(path)
        check(f"{path} has every command", {c for c in commands if f"mmtutor {c}" not in text})
        lang = "zh" if "zh" in path else "en"
        listed = subprocess.run([MMTUTOR, "read", "--list", "--lang", lang, "--width", "200"], capture_output=True, text=True).stdout
        titles = {line.split(None, 2)[2].strip() for line in listed.splitlines() if line.strip() and "  - " not in line}
        check(f"{path} names the lessons that are written", {t for t in titles if f"*{t}*" not in text} if titles else {listed})
        used = {c for block in re.findall(r"```sh\n(.*?)```", text, re.S) for c in uses(block)}
        check(f"{path} uses no command that is not there", used - set(commands))
        mine = {o for line in text.split("\n") if "mmtutor" in line for o in options(re.sub(r'"[^"]*"', "", line))}
        check(f"{path} uses no option that is not there", mine - known)
        shown = re.findall(r"\]\((?!https?:)([^)#]+)\)|!\[[^]]*\]\(([^)]+)\)", text)
        check(f"{path} links to files that are there", {p for pair in shown for p in pair if p and not os.path.exists(os.path.join(ROOT, p))})
        targets = set(re.findall(r"\bmake ([a-z][a-z-]*)", text))
        rules = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.M))
        check(f"{path} names targets of the Makefile", targets - rules)
    for tool, args, path in (("bash", ["-n"], FILES[0]), ("zsh", ["-n"], FILES[1]), ("fish", ["--no-execute"], FILES[2]),
                             ("mandoc", ["-Tlint"], FILES[3])):
        if shutil.which(tool):
            p = subprocess.run([tool, *args, os.path.join(ROOT, path)], capture_output=True, text=True)
            check(f"{tool} takes {path}", {p.stdout + p.stderr} if p.returncode or p.stdout else set())
    print(f"1..{n}")
    return failed != 0


sys.exit(main())
