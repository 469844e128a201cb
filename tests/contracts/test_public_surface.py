"""What plugins and programs may build on: the public names, and nothing below them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kr_core

PLUGINS = Path(__file__).parents[2] / "plugins"
PUBLIC = """Appendable Counters DocumentStore EventLog LightAppender LogCursors StepResults
AcceptedOrEscalate Agent AgentHandle AgentProfile AgentStatus Answer AskResult
AsyncKnowledgeRouterService Attribution Axiom AxiomStore CONTRACT_VERSION COVERED Cache Candidates CaseView
Citation Claim CodeExample ReplyCommand ConfigError Distribution Document DocumentHit Documents Draft EVENTS
Embedder Entry EntryStatus Escalation EscalationRequest Event RequestRecord ExpeditionUpdate Expeditions
FULLY CommandFault Finding Issue HUMAN PollResult HumanReply HumanResponse INDEX_FORMAT IndexedPassage Job Journal
KRError WriteResult KnowledgeRouterService Lesson Lessons LessonsResult Level LocalProject Log LogRecord
Ephemeral ChangeResult Notice Outcome Page Passage PassageIndex Pipeline PluginError Program Project Provider
QALogEntry Question RankedPassage Rate RebuildResult Receiver Renderer Repairable ParsedReplies Reply Report RequestError
CompletedResearch ResearchQuery ResearchRequest ResearchResult Route Router RoutingRule SKELETON_MARK STAGES
STALE_MARK Score Scorer Settings Setup OpenCase Signal EscalationContext Source SourceContext StorageError Store
Table Term ToolResult TopicIndex UnparsedReply Value Verdict Verifier __version__ answered build_index
closest_name content_words end_group fold_name for_terminal gap hookimpl host_of import_names inside
is_python json_of lies_within load_toml lock main_text make_state_folder new_id question_terms rank read_bytes
read_replies read_text redacted refusal render_template report_path require run_expedition served_at
site_of start_group telling_parameters write_atomically yaml_text"""


@pytest.mark.req("P1")
def test_the_public_names_are_these():
    """A name is added or taken away on purpose: by changing this list too."""
    assert sorted(kr_core.__all__) == sorted(PUBLIC.split())


def for_type_checkers():
    """Public names as type checkers see them: module and name there."""
    (block,) = [
        node for node in ast.parse(Path(kr_core.__file__).read_text("utf-8")).body if isinstance(node, ast.If)
    ]
    seen = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            seen |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign):  # under another name than at home
            (names,) = node.targets
            seen |= {new.id: seen.pop(old.id) for new, old in zip(names.elts, node.value.elts, strict=True)}
    return seen


def test_type_checkers_are_told_of_each_public_name():
    """What is found at run time is declared, and nothing else is."""
    assert sorted(for_type_checkers()) == sorted(kr_core.__all__)


@pytest.mark.parametrize(("name", "home"), sorted(for_type_checkers().items()))
def test_each_public_name_is_what_type_checkers_are_told(name, home):
    """A name is the same thing at run time as in the declarations, and `dir` shows it."""
    module, real = home
    assert getattr(kr_core, name) is getattr(import_module(module), real)
    assert name in dir(kr_core)


def test_the_module_that_is_public_as_a_whole():
    """`kr_core.yaml_text` is that module."""
    assert kr_core.yaml_text is import_module("kr_core.yaml_text")


def test_a_name_that_is_not_there():
    """Any other name is an AttributeError as in every module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kr_core.nothing  # noqa: B018  to ask for it is the test


def test_importing_the_package_imports_nothing_else():
    """`import kr_core` loads no module of KR and none of its dependencies."""
    code = "import sys; before = set(sys.modules); import kr_core; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "['kr_core']\n"


@pytest.mark.req("P1")
@pytest.mark.parametrize(
    "file", sorted(PLUGINS.rglob("*.py")), ids=lambda file: str(file.relative_to(PLUGINS))
)
def test_plugins_use_the_public_door_only(file):
    """No plugin of ours imports a module of the core: what it needs, a stranger's plugin may need too."""
    inner = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            inner += [alias.name for alias in node.names if alias.name.startswith("kr_core.")]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner += [node.module] if node.module.startswith("kr_core.") else []
            if node.module == "kr_core":
                inner += [alias.name for alias in node.names if alias.name not in kr_core.__all__]
    assert inner == []
