"""A repository with tests, code and manifests, and attacks of an agent that works on one of its tasks."""

from __future__ import annotations

import os
import subprocess

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
_NO_UPKEEP = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false"}
"""Else each commit starts two programs more, to look whether there is anything to tidy up."""
FILES = {
    "README.md": "# Read me\n",
    "src/app.py": "app = 1\n",
    "src/deep/part.py": "part = 1\n",
    "tests/test_app.py": "def test_app(): ...\n",
    "k8s/app.yaml": "kind: Deployment\n",
    ".gitignore": "hidden/\n*.secret\n",
}


class Repository:
    """A work tree, and git as its user calls it."""

    def __init__(self, top, files=FILES):
        self.top = top
        self.environ = {**os.environ, **IDENTITY, **_NO_UPKEEP}
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "feature")
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "-A", "-f")
        self.git("commit", "-qm", "start")

    def git(self, *arguments, ok=True):
        return self._bytes(*arguments, ok=ok).decode("utf-8", "surrogateescape")

    def _bytes(self, *arguments, ok=True, given=b""):
        done = subprocess.run(
            ["git", *arguments],
            check=False,
            capture_output=True,
            cwd=self.top,
            env=self.environ,
            input=given,
        )
        assert not ok or done.returncode == 0, done.stderr.decode()
        return done.stdout

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
        return path

    @property
    def head(self):
        return self.git("rev-parse", "HEAD").strip()

    @property
    def status(self):
        return self.git("status", "--porcelain", "-uall").splitlines()

    def files(self, commit="HEAD"):
        """The content of each path of a commit."""
        listed = self.git("ls-tree", "-r", "-z", commit).split("\0")[:-1]
        objects = {name: about.split()[2] for about, name in (line.split("\t", 1) for line in listed)}
        said = self._bytes(
            "cat-file", "--batch", given="".join(f"{one}\n" for one in objects.values()).encode()
        )
        found = {}
        for name, one in objects.items():
            head, _, said = said.partition(b"\n")
            told, _kind, size = head.split()
            assert told.decode() == one
            found[name] = said[: int(size)].decode("utf-8", "surrogateescape")
            said = said[int(size) + 1 :]
        return found


WORK = "echo 'app = 2' > src/app.py\n"
"""What an agent does inside the scope of dede, beside each attack."""

ATTACKS = {
    "write outside": ("echo x > tests/x", "tests/x"),
    "append outside": ("echo x >> README.md", "README.md"),
    "up and over": ("echo x > src/../tests/x", "tests/x"),
    "delete outside": ("rm README.md", "README.md"),
    "write through a link": ("ln -s ../tests src/l; echo x > src/l/x", "tests/x"),
    "a link to the outside": ("ln -s ../tests src/l", "src/l"),
    "an absolute link": ("ln -s /etc/passwd src/l", "src/l"),
    "a link behind a link": ("mkdir -p src/a/b; ln -s ../.. src/a/b/up; ln -s a/b/up/../tests src/l", "src/l"),
    "a folder becomes a link": ("rm -r src/deep; ln -s ../tests src/deep", "src/deep"),
    "rename out": ("mv src/app.py tests/app.py", "tests/app.py"),
    "rename in": ("mv tests/test_app.py src/t.py", "tests/test_app.py"),
    "a new hard link": ("ln tests/test_app.py src/h.py", "src/h.py"),
    "write through a hard link": ("ln tests/test_app.py src/h.py; echo x >> src/h.py", "tests/test_app.py"),
    "mode outside": ("chmod 777 README.md", "README.md"),
    "set-user-id": ("chmod u+s src/app.py", "src/app.py"),
    "an ignored file": ("mkdir hidden; echo x > hidden/x", "hidden/x"),
    "a file that it ignores itself": ("echo 'mine' >> .git/info/exclude; echo x > mine", "mine"),
    "rules of git": ("echo 'mine' >> .git/info/exclude", ".git/info/exclude"),
    "assume unchanged": ("git update-index --assume-unchanged README.md; echo x >> README.md", "README.md"),
    "skip work tree": ("git update-index --skip-worktree README.md; rm README.md", "README.md"),
    "attributes and line ends": (
        "echo '*.md text' > src/.gitattributes; printf '# Read me\\r\\n' > README.md",
        "README.md",
    ),
    "attributes in the scope": ("echo '* filter=x' > src/.gitattributes", "src/.gitattributes"),
    "a filter in the settings": ("git config filter.x.clean 'touch /tmp/owned'", ".git/config"),
    "a hook": ("echo 'touch owned' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", ".git/hooks/pre-commit"),
    "a branch": ("git branch mine", ".git/refs/heads/mine"),
    "its branch moved": (
        "git -c user.name=x -c user.email=x commit -qam x; git update-ref refs/heads/feature HEAD",
        ".git/refs/heads/feature",
    ),
    "other objects": ("echo /tmp > .git/objects/info/alternates", ".git/objects/info/alternates"),
    "no repository": ("rm -rf .git", ".git"),
    "another repository": ("rm -rf .git; ln -s /tmp .git", ".git"),
    "a submodule": ("git init -q src/sub; echo x > src/sub/f", "src/sub/.git/HEAD"),
    "a file of submodules": ("echo x > .gitmodules", ".gitmodules"),
    "case of a folder": ("mkdir SRC; echo x > SRC/a.py", "SRC/a.py"),
    "case of a file": ("echo x > src/App.py", "src/App.py"),
    "case of git": ("mkdir src/.GIT; echo x > src/.GIT/config", "src/.GIT/config"),
    "a name that git would hide": ("mkdir src/git~1; echo x > src/git~1/config", "src/git~1/config"),
    "Unicode forms": (
        "printf x > \"$(printf 'src/caf\\303\\251.py')\"; printf x > \"$(printf 'src/cafe\\314\\201.py')\"",
        "src/café.py",
    ),
    "a name like the scope": ("mkdir src2; echo x > src2/a.py", "src2/a.py"),
    "a dot at the end": ("echo x > src/app.py.", "src/app.py."),
    "a blank at the end": ("echo x > 'src/app.py '", "src/app.py "),
    "a backslash": ("echo x > 'src/..\\..\\x'", "src/..\\..\\x"),
    "a line end in a name": ("printf x > \"$(printf 'src/a\\nb.py')\"", "src/a\nb.py"),
    "another encoding": ("printf x > \"$(printf 'src/caf\\351.py')\"", "src/caf\\xe9.py"),
    "a pipe": ("mkfifo src/p", "src/p"),
    "a socket": ("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"src/s\")'", "src/s"),
    "an empty folder outside": ("mkdir tests/new", "tests/new"),
    "a folder becomes a file": ("rm -r k8s; echo x > k8s", "k8s"),
    "a file becomes a folder": ("rm README.md; mkdir README.md; echo x > README.md/x", "README.md/x"),
    "a large file": ("truncate -s 300M src/large", "src/large"),
    "a lock file": ("echo x > src/uv.lock", "src/uv.lock"),
    "the configuration of KR": ("echo 'dispatch: {}' > kr.yaml", "kr.yaml"),
    "its own settings": ("mkdir -p src/.claude; echo x > src/.claude/settings.json", "src/.claude/settings.json"),
    "everything": ("rm -rf ./* .gitignore", "README.md"),
    "times": ("touch -d 2001-01-01 README.md; echo y > README.md; touch -d 2001-01-01 README.md", "README.md"),
    "same size": ("printf '# Read ME\\n' > README.md", "README.md"),
    "a git folder with a letter that is not seen": (
        "d=$(printf 'src/.g\\342\\200\\214it'); mkdir \"$d\"; echo x > \"$d/config\"", "src/.g\u200cit/config",
    ),
    "attributes with a letter that is not seen": (
        "printf x > \"$(printf 'src/.gitattr\\342\\200\\215ibutes')\"", "src/.gitattr\u200dibutes",
    ),
    "attributes with a letter that folds": ("printf x > \"$(printf 'src/.gitattribute\\305\\277')\"", "src/.gitattributeſ"),
    "a short name of attributes": ("echo '* filter=x' > src/GITATT~1", "src/GITATT~1"),
    "a short name of git by number": ("mkdir src/GIT~2; echo x > src/GIT~2/config", "src/GIT~2/config"),
    "a stream of a git folder": ("mkdir 'src/.git::$INDEX_ALLOCATION'", "src/.git::$INDEX_ALLOCATION"),
    "a nested repository by a file": ("echo 'gitdir: /tmp/x' > src/.git", "src/.git"),
    "a submodule by git": (
        "git init -q --bare src/b; git -c protocol.file.allow=always submodule --quiet add ./src/b src/s; echo x > .gitmodules",
        ".gitmodules",
    ),
    "a worktree of its own": ("git worktree add -q src/wt 2>/dev/null", ".git/refs/heads/wt"),
    "another work tree": ("git config core.worktree /tmp", ".git/config"),
    "included settings": ("git config include.path /tmp/evil", ".git/config"),
    "a path of hooks": ("git config core.hooksPath src", ".git/config"),
    "replaced objects": ("mkdir -p .git/refs/replace; git rev-parse HEAD > .git/refs/replace/mine", ".git/refs/replace/mine"),
    "a shallow history": ("git rev-parse HEAD > .git/shallow", ".git/shallow"),
    "grafts": ("git rev-parse HEAD > .git/info/grafts", ".git/info/grafts"),
    "a common folder": ("echo /tmp > .git/commondir", ".git/commondir"),
    "a sparse checkout": ("git sparse-checkout set src", ".git/info/sparse-checkout"),
    "a tag": ("git tag mine", ".git/refs/tags/mine"),
    "packed branches": ("git pack-refs --all", ".git/packed-refs"),
    "attributes of the repository": ("echo '* filter=x' > .git/info/attributes", ".git/info/attributes"),
    "a swap of folders": ("mv src s; mv tests src; mv s tests", "tests/app.py"),
    "a rename over": ("echo x > src/t; mv src/t README.md", "README.md"),
    "written through memory": (
        "python3 -c 'import mmap; f=open(\"README.md\",\"r+b\"); m=mmap.mmap(f.fileno(),0); m[2:6]=b\"XXXX\"'", "README.md",
    ),
    "unreadable outside": ("chmod 000 README.md", "README.md"),
    "a file for a link": ("ln -s README.md src/t; mv src/t README.md", "README.md"),
    "a link that leads nowhere yet": ("ln -s ../new src/l", "src/l"),
    "the ignore rules": ("echo 'src/' >> .gitignore", ".gitignore"),
    "an ignored secret outside": ("echo x > k8s/x.secret", "k8s/x.secret"),
    "a cache in the place of a folder": ("rm -r tests; mkdir -p tests/__pycache__; echo x > tests/__pycache__/x", "tests/test_app.py"),
    "many files outside": ("for n in $(seq 700); do echo $n > tests/n$n; done", "tests/n1"),
    "a pipe for the head": ("rm .git/HEAD; mkfifo .git/HEAD", ".git/HEAD"),
    "a device for the head": ("rm .git/HEAD; ln -s /dev/zero .git/HEAD", ".git/HEAD"),
    "a pipe for other objects": (
        "rm .git/objects/info/alternates; mkfifo .git/objects/info/alternates", ".git/objects/info/alternates",
    ),
    "a link for other objects": (
        "mv .git/objects/info/alternates src/a; ln -s ../../../src/a .git/objects/info/alternates", ".git/objects/info/alternates",
    ),
    "a pipe in the place of a file": ("rm README.md; mkfifo README.md", "README.md"),
    "a pipe for the settings": ("rm .git/config; mkfifo .git/config", ".git/config"),
    "a folder for other objects": (
        "rm .git/objects/info/alternates; mkdir .git/objects/info/alternates", ".git/objects/info/alternates",
    ),
    "another folder of objects": (
        "mv .git/objects src/o; ln -s ../src/o .git/objects; rm -rf src/o/*", ".git/objects/info/alternates",
    ),
    "no objects": ("rm -rf .git/objects; mkdir .git/objects", ".git/objects/info/alternates"),
    "its head by name": ("echo 'ref: refs/heads/feature' > .git/HEAD", ".git/HEAD"),
    "a pipe as a branch": ("mkfifo .git/refs/heads/p", ".git/refs/heads/p"),
    "settings of the worktree": ("echo '[core]' > .git/config.worktree", ".git/config.worktree"),
    "a folder of submodules": ("mkdir -p .git/modules/x; echo x > .git/modules/x/config", ".git/modules/x/config"),
    "a folder of worktrees": ("mkdir -p .git/worktrees/x; echo /tmp > .git/worktrees/x/gitdir", ".git/worktrees/x/gitdir"),
    "a resolution": ("mkdir -p .git/rr-cache/a; echo x > .git/rr-cache/a/postimage", ".git/rr-cache/a/postimage"),
    "notes": ("git notes add -m x", ".git/refs/notes/commits"),
    "braces in a name": ("mkdir '{src,tests}'; echo x > '{src,tests}/a'", "{src,tests}/a"),
    "a star in a name": ("mkdir 'src*'; echo x > 'src*/a'", "src*/a"),
    "a hard link within the scope": ("echo a > src/x; ln src/x src/y", "src/y"),
    "a hard link in a cache": ("mkdir src/__pycache__; ln src/app.py src/__pycache__/b", "src/app.py"),
    "a control sequence in a name": ("printf x > \"$(printf 'src/a\\033[2Jb.py')\"", "src/a\x1b[2Jb.py"),
    "a name that turns around": ("printf x > \"$(printf 'src/a\\342\\200\\256b.py')\"", "src/a\u202eb.py"),
    "the boxes of tasks": ("mkdir -p specs/001-x; echo '- [X] T900 x' > specs/001-x/tasks.md", "specs/001-x/tasks.md"),
    "the specification": ("mkdir -p specs/001-x; echo x > specs/001-x/spec.md", "specs/001-x/spec.md"),
    "half a landing": ("mkdir -p .kr/dispatch; echo '{}' > .kr/dispatch/landing.json", ".kr/dispatch/landing.json"),
    "KR's folder in another case": ("mkdir -p src/.KR; echo x > src/.KR/x", "src/.KR/x"),
    "ignore rules in the scope": ("echo '!*' > src/.gitignore", "src/.gitignore"),
    "names of people": ("echo 'Eve <e@x> <ada@example.org>' > .mailmap", ".mailmap"),
    "settings of large files": ("printf '[lfs]\\n\\turl = http://x\\n' > .lfsconfig", ".lfsconfig"),
    "a link to the top": ("ln -s .. src/l", "src/l"),
    "a link into git": ("ln -s ../.git/config src/l", "src/l"),
    "a link to the shelf of KR": ("ln -s ../.kr src/l", "src/l"),
    "all without rights": ("chmod 500 tests k8s", "tests"),
    "a writer in the background": (
        "(setsid setsid sh -c 'trap \"\" TERM HUP INT; for n in $(seq 300); do echo x >> tests/late; sleep .01; done' >/dev/null 2>&1 &); sleep .2",
        "tests/late",
    ),
    "a folder as a link and back": ("mv tests t; ln -s src tests; echo x > tests/y; rm tests; mv t tests; ln tests/test_app.py src/z", "src/z"),
    "a poisoned cache of the tree": ("mkdir -p tests/__pycache__; mv tests/test_app.py tests/__pycache__/", "tests/test_app.py"),
}  # fmt: skip
"""What an agent of dede's does beside its work, and a path that must be refused for it."""

ROLES = ("marie", "dede", "gustave", "degaulle")
_AGENT = """\
cat > "$TMPDIR/order"
id=$(sed -n 's/.*"id": "\\([^"]*\\)".*/\\1/p' "$TMPDIR/order")
[ -f "$1/$id" ] || { echo "nothing to do for $id"; exit 9; }
. "$1/$id"
"""
"""What every role's agent is: it does what a script with the name of the task says, outside of the project."""


class TaskProject(Repository):
    """A repository with a file of tasks, and agents that do what a test says."""

    def __init__(self, top, tasks, files=FILES, config=""):
        """Tasks are lines of the file, or pairs of a line and what its agent does."""
        self.scripts = top.parent / "scripts"
        self.scripts.mkdir(parents=True)
        lines = []
        for one in tasks:
            line, script = (one, None) if isinstance(one, str) else one
            lines.append(line)
            if script is not None:
                id_ = line.split("] ", 1)[1].split()[0]
                (self.scripts / id_).write_text(f"{script}\n")
        (self.scripts / "agent.sh").write_text(_AGENT)
        self.tasks = top / "specs/001-x/tasks.md"
        text = "# Tasks: X\n\n" + "\n".join(lines) + "\n"
        agents = "".join(f"  {role}: {{plugin: worker, timeout_seconds: 60}}\n" for role in ROLES)
        argv = f"[sh, {self.scripts}/agent.sh, {self.scripts}]"
        own = f"agents:\n{agents}plugins:\n  worker: {{use: command, argv: {argv}}}\n{config}"
        super().__init__(top, {**files, "specs/001-x/tasks.md": text, "kr.yaml": own})
        with (self.top / ".git/config").open("a") as file:
            file.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")

    @property
    def ticked(self):
        """The ids of the tasks whose boxes are ticked in the work tree."""
        return [line.split()[2] for line in self.tasks.read_text().splitlines() if line.startswith("- [X]")]

    def patches(self):
        return sorted((self.top / ".kr/dispatch/aside").rglob("*.patch"))
