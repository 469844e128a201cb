"""What leaves the machine: never a secret, and no code unless somebody says so."""

import pytest

from kr_core.model import ResearchQuery
from kr_core.net.redaction import outgoing, redacted
from kr_core.question.topics import topic_and_tags

SECRETS = [
    "-".join(["sk", "ant", "api03", 3 * "abcdefgh"]),
    "sk-proj-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "glpat-abcdefghijklmnopqrst",
    "xoxb-123456789012-abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA-abcdefghijklmnopqrstuvwxyz12345",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi-AgEIcHlwaS5vcmcCJDU3abcdefgh",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "ctx7sk-0123456789abcdef",
    "tvly-dev-0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]


def query(question, **named):
    known = {"framework": "httpx", "framework_version": "0.28", "topic": "timeouts", "tags": ("timeout",)}
    return ResearchQuery(question=question, **{**known, **named})


@pytest.mark.req("R19")
@pytest.mark.parametrize("secret", SECRETS)
def test_keys_of_known_services(secret):
    """Wherever they stand, the rest of the text stays."""
    for text in (
        f"why is {secret} refused?",
        f"'{secret}'",
        f"KEY={secret}",
        f"https://x.example/?k={secret}&b=1",
    ):
        assert secret not in redacted(text)
        assert redacted(text) != "[redacted]"
    assert redacted(f"why is {secret} refused?") == "why is [redacted] refused?"


@pytest.mark.req("R19")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password = 'hunter2hunter2' fails", "password = [redacted] fails"),
        ('{"api_key": "abcdef123456"}', '{"api_key": [redacted]}'),
        ("DB_PASSWORD=s3cr3t-value!", "DB_PASSWORD=[redacted]"),
        ("postgres://kr:s3cr3t@db.example/kr", "postgres://[redacted]@db.example/kr"),
        ("Authorization: Bearer abcdefghijklmnop1", "Authorization: Bearer [redacted]"),
        ("Authorization: Token abcdefghijklmnop", "Authorization: Token [redacted]"),
        ("curl -H 'basic dXNlcjpwYXNzd29yZA=='", "curl -H 'basic [redacted]'"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz", "[redacted]"),
    ],
)
def test_secrets_by_their_place(text, left):
    """Passwords in assignments, addresses and headers; keys between their lines."""
    assert redacted(text) == left


@pytest.mark.req("R19")
@pytest.mark.parametrize(
    "text",
    [
        "How do I set a timeout for a single request in httpx?",
        "What does token=None mean in auth?",
        "Is password: str a field of BaseSettings?",
        "Where does api_key=os.environ['KEY'] come from?",
        "How is a token refreshed? token: the refresh token",
        "How do I use skip_schema-validation_in_pydantic_models?",
        "What is the task-runner-configuration-for-tests?",
        "Set `max_tokens=4096` in the client",
        "Does max_tokens=100000 cost more?",
        "How do I use basic authentication, or bearer authentication?",
        "Where is the Basic Configuration of logging?",
        "What does tokenizer.pad_token = tokenizer.eos_token do?",
        "Why does it need secret: process.env.NEXTAUTH_SECRET?",
        "What is the difference between credentials: include and credentials: same-origin?",
        "What is the constraint pk_users_of_organizations?",
        "How do I install sk-learn-contrib-imbalanced?",
    ],
)
def test_what_is_no_secret_stays(text):
    """Questions about passwords and tokens hold none."""
    assert redacted(text) == text


@pytest.mark.req("R19", "Z4")
@pytest.mark.parametrize(
    "part",
    ["a.", "token", "sk-", "-----BEGIN", "password ", "://a", "/a ", "[a", "`a", "basic a", "eyJ-", "eyJ-."],
)
def test_what_is_made_to_be_slow_is_read_in_a_moment(part):
    """An address that a page leads to may be as long as it likes; it is looked through on its way into an event."""
    text = part * 20_000
    assert redacted(text) == text
    assert outgoing(query(text), "question").query.framework == "httpx"


@pytest.mark.req("R19")
def test_question_leaves_without_code():
    """Fences, pasted lines and tracebacks stay at home; names and the prose go."""
    asked = (
        "Why does `client.get()` hang in `httpx.Client`?\n\n```python\nclient.get(INTERNAL_URL)\n```\n"
        "def billing_secret_sauce(x):\n    return x * 42;\n"
        'File "/home/ann/acme/billing.py", line 3, in run\n'
        "It happens after the upgrade of /home/ann/acme/uv.lock only."
    )
    sent, kept = outgoing(query(asked), "question")
    assert kept == ("code",)
    assert "client.get()" in sent.question
    assert "httpx.Client" in sent.question
    assert "It happens after the upgrade of uv.lock only." in sent.question
    for inside in ("INTERNAL_URL", "billing", "acme", "42", "/home"):
        assert inside not in sent.question


@pytest.mark.req("R19")
def test_code_leaves_where_it_may():
    """With `code` all goes but secrets; both are told apart."""
    asked = "Why?\n```\nclient.get(X, headers={'Authorization': 'Bearer abcdefghijklmnop'})\n```"
    sent, kept = outgoing(query(asked), "code")
    assert "client.get(X" in sent.question
    assert "abcdefghijklmnop" not in sent.question
    assert kept == ("a secret",)


@pytest.mark.req("R19")
def test_names_alone():
    """Framework, version, topic and tags, and nothing of the question."""
    sent, kept = outgoing(query("How does our acquisition of Initech change the timeouts?"), "names")
    assert sent.question == "httpx timeouts"
    assert (sent.framework, sent.framework_version, sent.topic, kept) == ("httpx", "0.28", "timeouts", ())


@pytest.mark.req("R19")
@pytest.mark.parametrize("policy", ["names", "question", "code"])
def test_what_was_made_of_the_question_tells_no_more_than_it(policy):
    """A topic and tags that nobody gave are the question's own words, code and secrets among them."""
    asked = "Why does our acquisition fail with password=hunter22x?\n```\nsauce_of(42)\n```"
    topic, tags = topic_and_tags(asked, "httpx")
    assert {"acquisition", "hunter22x", "sauce"} <= set(tags)
    made = query(asked, topic=topic, tags=tags, inferred=frozenset({"topic", "tags"}))
    sent = outgoing(made, policy).query
    told = " ".join([sent.question, sent.topic, *sent.tags])
    assert "hunter22x" not in told
    assert ("sauce" in told) == (policy == "code")
    assert ("acquisition" in told) == (policy != "names")
    assert policy != "names" or sent.question == "httpx"
    given = query(asked, topic="timeouts", tags=tags, inferred=frozenset({"tags"}))
    assert outgoing(given, "names").query.question == "httpx timeouts"


@pytest.mark.req("R19")
def test_a_plain_question_leaves_as_it_is():
    """Nothing is kept, nothing is noted."""
    for question in (
        "How do I set a timeout for a single request in httpx?",
        "What is the difference between httpx.Client and httpx.AsyncClient?",
        "How do I use `timeout=None`?",
        "What is the difference between `async with` and `async for`?",
        "What do `**kwargs` and `:=` mean?",
        "Does print(x, end='') flush?",
    ):
        sent, kept = outgoing(query(question), "question")
        plain = question.replace("`", "")
        assert (sent.question.replace("  ", " "), kept) == (plain, ()) or "`timeout=None`" in question


@pytest.mark.req("R19")
def test_a_question_of_code_alone_leaves_as_its_names():
    """Something must be asked; it is not the code."""
    sent, _kept = outgoing(query("```\nx = secret_sauce()\n```"), "question")
    assert sent.question == "httpx timeouts"
