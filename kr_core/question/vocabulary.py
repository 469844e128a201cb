"""Words that are the names of packages and mean something else too, and names that are packages for sure."""

from __future__ import annotations

PLAIN_ENGLISH = frozenset(
    """
    abc array arrow attr babel bag bbox beaker black bottle box build cache calendar chalice chess
    clean click cmd code codecs commands common config contextvars copy core cycler data databases dataset date
    decorator decorators deprecated distributed email enum errno errors events executing fabric faker fire flux
    formatter fractions future gc glom gradient graph graphs grasp html http icecream image images invoke ipaddress
    isolate keyword keyring limits locale logging magic mail maps mail markdown marshal math mechanize mock mode
    models more munch nest nose numbers operator orders packaging parse parser path paths pickle pipe pipeline pin
    plan plants platform plotly pool prefect process profile progress prompt proxy pulp purl py python
    queue random re records regex render requests resource responses retry retrying rich rope rules safe sample
    schedule schema scope secrets secure select selectors service sets sh shell signal signals simple site six
    slugify smart snap soup sphinx stack stat state statistics storage streams string struct suds symbol symtable
    table tables tag tags tap task tasks tenacity test testing tests text textual this thread threading time timeout
    token tokenize toolz tools trace traceback transitions trees turtle types typing units utils uuid version
    vine voluptuous warnings watch watchdog web websocket websockets wheel wire wrapt xml yarn zip
    """.split()
)
"""Names of packages and modules that a question may hold as ordinary words: they need a cue beside them."""

DEFINITE_MODULES = frozenset(
    """
    argparse asyncio bisect configparser contextlib csv ctypes curses dataclasses datetime difflib functools getpass
    hashlib heapq importlib itertools json linecache mimetypes multiprocessing optparse pathlib pdb pprint
    shelve shlex shutil smtplib socketserver sqlite3 subprocess sysconfig tarfile tempfile textwrap timeit tkinter
    tomllib tracemalloc unittest urllib venv weakref zipfile zoneinfo
    """.split()
)
"""Modules of the standard library that mean only that, where they are written in lower case."""
STANDARD_NAMES = frozenset(
    """
    ElementTree MagicMock NamedTemporaryFile OrderedDict ProcessPoolExecutor TemporaryDirectory ThreadPoolExecutor
    contextmanager defaultdict lru_cache minidom namedtuple
    """.split()
)
"""What lies deeper in it and is no other library's, as it is spelled."""

KNOWN = frozenset(
    """
    actix aiohttp airflow alembic angular ansible anyio astro axios axum bokeh boto3 bootstrap bun cargo celery chakra
    cypress d3 dart dask deno diesel django docker drizzle electron elixir ember esbuild eslint express fastapi
    fastify flask flutter gin go golang gradle grpc hibernate httpx hypothesis java javascript jest jinja jquery
    junit kafka keras kotlin kubernetes langchain laravel lodash maven mongodb mongoose mypy mysql nestjs nextjs
    nginx node nodejs numba numpy nuxt openai opentelemetry pandas phoenix php pip playwright poetry polars postgres
    postgresql prisma pydantic pytest pytorch qt rails rayon react redis redux remix requests rollup ruby
    rubocop ruff rust sanic scala scikit-learn scipy scrapy seaborn selenium serde sinatra spark spring sqlalchemy
    sqlite starlette streamlit strapi svelte swift symfony tailwind tensorflow terraform tokio tornado trio typescript
    typer uvicorn vite vitest vue webpack zod zustand
    """.split()
)
"""Names of libraries, languages and tools that no one uses for anything else beside `in` or `with`."""

ALSO_WORDS = frozenset(
    {
        "bootstrap",
        "cargo",
        "dart",
        "electron",
        "ember",
        "express",
        "flask",
        "go",
        "phoenix",
        "poetry",
        "rails",
    }
    | {
        "react",
        "remix",
        "rust",
        "spark",
        "spring",
        "swift",
        "node",
        "gin",
        "bun",
        "pip",
        "astro",
        "drizzle",
        "requests",
    }
)
"""Known libraries whose name may open a sentence as an ordinary word ("Express a range as ...")."""

NOT_LIBRARIES = frozenset(
    """
    app application block bug code config fun help loop npm object program project pypi script thing transformer
    ability access account action array bracket colon comma coverage dataframe digit dot engine excel letter matrix newline
    pdf quote whitespace
    agnostic alive aware based built e2e end friendly fine free high hint keep long low
    multi non only open over oriented per post pre re safe self short specific top under wide wise active address admin advance aggregate alias ascii async attribute auth
    authentication authorization aws back backend background backoff base base64 basic batch bearer body boolean bound
    branch browser buffer bulk button byte bytes cert certificate chain change channel char ci class cli client clock
    cloud code column command comment commit compile concurrency condition connect connection console constant content
    context control cookie copy core cors count country cpu credential cron css csv currency cursor custom
    data database date datetime debug default delay demand dependency depth detail dev develop dict dictionary
    directory disk dns dom download driver duplicate duration ease effect element email encoding endpoint
    english entry enum env environment error event exception export expression factor failure fallback fast field file
    filter first flag folder font form format frame framework free french front function future general generator
    german git github global gpu graph graphql group grpc gui gzip handle handler hash header height hidden hook host
    hour html http http2 http3 https icon id image index inline input insert instance int integer interest interface
    interval ip ipv4 ipv6 isolation item iteration join json json5 jsonl jwt key keyword kind label lambda language large
    last latin1 layer layout lazy length less level library limit line link linux list load local lock log login
    logic loop mac macos main map mapping mark markdown mask mean memory menu message metadata method middleware mind
    minute mock mode model module money month mutex name native nesting network new next none normal null
    number oauth oauth1 oauth2 object offset one open openapi operator option order orm output package page parallel
    parameter parent part particular pass password patch path pattern payload permission phase pipe place plain
    plugin point pool port post practice prefix preload print priority private process production profile
    progress project promise prompt property protocol proxy public query question queue quote race random range
    rate raw read real record recursion redirect regex region release repeat reply repo repository request
    resource response rest result retry return reverse role root route router row rule run safety sample
    schema scope screen script search second secret section self send sequence series server service session set
    setup sha1 sha256 sha512 shell short side signal single size sleep slice smtp socket sort source space speed split
    sql ssh ssl stack stage standard start state statement status step stop storage store stream strict
    string struct structure style subclass success suffix support sync syntax system table tag target task tcp
    team template terminal test text thread threshold throttle time timeout timezone title tls token toml tool
    total trace traffic transaction transport tree trick true tuple turn type udp ui unicode union unit unix update
    upload uri url user utc utf utf-8 utf8 utf16 uuid value variable vector verbose version video view vim virtual
    visual wait warning week weight width wifi wild window windows word work worker world wrapper write x509 xml
    yaml year zero zip zone
    """.split()
)
"""Words after `in` or `with` that are formats, protocols and common nouns; their plurals too."""

IMPORTED_AS = {
    "np": "numpy", "pd": "pandas", "sa": "sqlalchemy", "nx": "networkx", "plt": "matplotlib", "tf": "tensorflow", "pl": "polars",
    "sns": "seaborn", "dt": "datetime", "ET": "xml", "bs4": "bs4", "dj": "django", "px": "plotly", "st": "streamlit", "orm": "sqlalchemy",
}  # fmt: skip
"""Names by which modules are imported as a rule."""
