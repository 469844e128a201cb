"""The paths that a task's description names: in code spans, and as words of the sentence."""

from __future__ import annotations

import re

__all__ = ["is_infrastructure", "is_source", "is_test", "paths_in"]

_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`]{1,400})\1(?!`)")
_WORD = re.compile(r"[^\s,;、，；：。（）()「」『』\"'<>|=*!?]+")
_PATH = re.compile(r"(?:\./)?[\w.@+~$%{}\[\]-]+(?:/[\w.@+~$%{}\[\]-]+)*/?")
_ENDINGS = frozenset(
    """astro bash bat bicep c cc cfg clj conf config cpp cs cshtml csproj css csv cts cxx dart db dockerfile ejs env erb ex exs
    fs fsproj gd go gradle graphql groovy h hbs hcl hpp html ini ipynb j2 java jinja js json json5 jsx kt kts less lock
    lua m mako md mdx mjs ml mm mod mts nix php pl plist prisma proto ps1 pug py pyi r rb rs rst sass scala scss sh sln sol
    spec sql sum svelte svg swift tf tfvars toml tpl ts tsx txt vb vue xaml xcconfig xml yaml yml zig""".split()
)
_NAMES = frozenset(
    """Dockerfile Makefile Procfile Gemfile Rakefile Jenkinsfile Vagrantfile Justfile Tiltfile Caddyfile CODEOWNERS LICENSE
    README CHANGELOG""".split()
)
_DOT_FILE = re.compile(
    r"\.(?:env|git|docker|eslint|prettier|stylelint|babel|npm|nvm|pre-commit|editorconfig|gitlab|python-version|tool-versions)[\w.-]*"
)
_PRODUCTS = re.compile(
    r"(?:[A-Z][A-Za-z]*|node|next|vue|nuxt|express|three|d3|chart|socket)\.(?:js|io|ts|net)", re.ASCII
)
_TOPS = frozenset(
    """.github api app apps argocd assets backend bin charts client cmd components config configs contracts core db deploy
    docker docs e2e frontend helm infra infrastructure internal ios android k8s kustomize lib libs locales migrations mobile
    packages pages pkg public scripts server services shared specs src static supabase templates terraform test tests tools ui
    web www""".split()
)
_MIME = re.compile(r"(?:application|text|image|audio|video|multipart|font)/[\w.+*-]+")
_TEST_FOLDERS = frozenset("__tests__ cypress e2e playwright spec test testing tests".split())
_TEST_FILE = re.compile(
    r"(?:test_.+|.+_(?:test|spec)|conftest)\.\w+|.+\.(?:test|spec|cy|e2e)\.\w+|.*[a-z0-9](?:Test|Tests|Spec|IT)\.(?:java|kt|cs|swift|scala)"
)
_INFRASTRUCTURE = frozenset(
    """ansible argocd chart charts deploy deployment deployments docker helm infra infrastructure k8s kubernetes kustomize
    manifests nginx pulumi terraform workflows""".split()
)
_INFRASTRUCTURE_FILE = re.compile(
    r"(?:.*\.)?Dockerfile(?:\..+)?|(?:docker-)?compose(?:[.-].+)?\.ya?ml|docker-compose.*|.+\.(?:tf|tfvars)|\.gitlab-ci\.yml|Jenkinsfile|"
    r"nginx\.conf|skaffold\.yaml|Chart\.yaml",
    re.IGNORECASE,
)
_CODE = frozenset(
    """astro c cc clj cpp cs css cts cxx dart ejs erb ex exs fs gd go graphql groovy h hbs hpp html java jinja js jsx kt kts less
    lua m mjs ml mm mts php pl prisma proto pug py pyi r rb rs sass scala scss sol sql svelte swift ts tsx vb vue zig""".split()
)
_SOURCE_FOLDERS = frozenset(
    "src app apps lib libs backend frontend packages pkg internal cmd server client".split()
)


def paths_in(text: str) -> tuple[str, ...]:
    """The paths in a description, in order, each once, as it writes them, without `./`."""
    found: dict[str, None] = {}

    def spans(match: re.Match[str]) -> str:
        for word in match[2].split():
            _add(found, word, in_code=True)
        return " "

    rest = _SPAN.sub(spans, re.sub(r"\]\([^)\]]{0,400}\)", "] ", text))
    for word in _WORD.findall(rest):
        _add(found, word, in_code=False)
    return tuple(found)


def _add(found: dict[str, None], word: str, *, in_code: bool) -> None:
    name = word.strip("~*").rstrip(".:,;)").removeprefix("./")
    name = re.sub(r":\d+(?:[:-]\d+)?$", "", name)  # a line
    if len(name) < 300 and _PATH.fullmatch(name) and _is_path(name, in_code=in_code):
        found.setdefault(name)


def _is_path(name: str, *, in_code: bool) -> bool:
    if "//" in name or _MIME.fullmatch(name) or name.startswith(("@", "~", "$")) or ".." in name.split("/"):
        return False
    *folders, last = name.rstrip("/").split("/")
    ending = last.rpartition(".")[2].lower() if "." in last.strip(".") else ""
    known = ending in _ENDINGS or last in _NAMES or bool(_DOT_FILE.fullmatch(last))
    if not folders:
        if name.endswith("/"):
            return bool(re.fullmatch(r"[\w.-]+", last))
        return known and not _PRODUCTS.fullmatch(last)
    if name.endswith("/") or known:
        return bool(re.search(r"\w", folders[0])) and not re.fullmatch(r"\d[\d./-]*", name)
    return folders[0] in _TOPS or (in_code and folders[0].lower() in _TOPS)


def is_test(path: str) -> bool:
    """Whether a path is of tests, by its folders or its name."""
    *folders, last = path.rstrip("/").split("/")
    names = [*folders, last] if path.endswith("/") or "." not in last else folders
    return bool(_TEST_FOLDERS & {name.lower() for name in names} or _TEST_FILE.fullmatch(last))


def is_infrastructure(path: str) -> bool:
    """Whether a path is of what runs the program, rather than of the program."""
    *folders, last = path.rstrip("/").split("/")
    names = [*folders, last] if path.endswith("/") else folders
    return bool(_INFRASTRUCTURE & {name.lower() for name in names} or _INFRASTRUCTURE_FILE.fullmatch(last))


def is_source(path: str) -> bool:
    """Whether a path is of the program itself."""
    last = path.rstrip("/").rpartition("/")[2]
    if path.endswith("/") or "." not in last:
        return path.split("/", maxsplit=1)[0] in _SOURCE_FOLDERS or path.rstrip("/").endswith("/src")
    return last.rpartition(".")[2].lower() in _CODE
