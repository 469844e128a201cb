"""Recommendations accepted: the difference is shown, written after a yes, recorded, and taken back."""

import json
import re

import pytest
from support.asked import Says, said, service

from kr_core import HumanResponse, Question
from kr_core.config import load
from kr_core.config.trust_store import is_trusted
from kr_core.review.spot_check_review import SpotChecks

pytestmark = [pytest.mark.req("V4")]
FEATURE = "F-1"
UNSURE = "unsure-topic-duc-caching"
SEGMENT = "repeated-context-customer-segment"


def asked(made, text, topic, **more):
    return made.ask(Question(text=text, topic=topic, feature_id=FEATURE, **more))


def reply(made, result, action, content=""):
    return made.reply(result.escalation.id, HumanResponse(action=action, content=content, by="ada"))


@pytest.fixture
def unsure(tmp_path):
    """A project in which a person corrected what duc was unsure of."""
    folder = tmp_path / "p"
    with service(folder, duc=Says(said("Perhaps.", 55))) as made:
        for number in range(3):
            reply(
                made,
                asked(made, f"Cache {number}?", "caching"),
                "correct",
                f"Redis {number}, password=hunter2.",
            )
    (folder / "kr.yaml").write_text("# ours\nagents:\n  duc:\n    timeout_seconds: 60  # long enough\n")
    return folder


def accept(kr_here, folder, name=UNSURE, *more):
    """Look at the difference, then write exactly that."""
    shown = kr_here("retro", "accept", name, *more, cwd=folder)
    assert shown.code == 2, shown.err
    number = re.search(r"--seen (\w+) writes exactly this", shown.err)[1]
    done = kr_here("retro", "accept", name, "--seen", number, *more, cwd=folder)
    assert done.code == 0, done.err
    return shown.out


def kinds(kr_here, folder, feature=FEATURE):
    entries = kr_here("log", feature, "--json", cwd=folder).out.splitlines()
    return [json.loads(line) for line in entries if "recommendation." in line]


def test_what_people_decided_becomes_knowledge_of_the_agent(unsure, kr_here):
    """Each bullet has an id and its evidence; the folder is named in the configuration, whose comments stay."""
    difference = accept(kr_here, unsure)
    knowledge = (unsure / "knowledge/duc/decided-by-people.md").read_text()
    assert f"- [{UNSURE}-1] caching: Cache 0? Redis 0" in knowledge
    assert "hunter2" not in knowledge
    assert re.search(r"\(entries [0-9a-f]{16}-\d+\)", knowledge)
    assert "+++ b/knowledge/duc/decided-by-people.md" in difference
    text = (unsure / "kr.yaml").read_text()
    assert text == (
        '# ours\nagents:\n  duc:\n    timeout_seconds: 60  # long enough\n    knowledge: "knowledge/duc"\n'
    )
    (event,) = kinds(kr_here, unsure)
    assert event["kind"] == "recommendation.accepted"
    assert event["data"]["change"] == "knowledge"
    assert len(event["data"]["evidence"]) == 3


def test_nothing_that_people_wrote_is_taken_over_unseen(unsure, kr_here):
    """`--yes` alone does not write it, nor does the number of another difference."""
    refused = kr_here("retro", "accept", UNSURE, "--yes", cwd=unsure)
    assert refused.code == 2
    assert "words of people" in refused.err
    other = kr_here("retro", "accept", UNSURE, "--seen", "00000000", cwd=unsure)
    assert other.code == 2
    assert "is not the number of this difference" in other.err
    assert not (unsure / "knowledge").exists()
    assert kinds(kr_here, unsure) == []


def test_a_change_is_taken_back(unsure, kr_here):
    """The files are as they were, the record has both, and it can be accepted again."""
    before = (unsure / "kr.yaml").read_text()
    accept(kr_here, unsure)
    done = kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure)
    assert done.code == 0, done.err
    assert (unsure / "kr.yaml").read_text() == before
    assert not (unsure / "knowledge/duc/decided-by-people.md").exists()
    assert [one["kind"] for one in kinds(kr_here, unsure)] == [
        "recommendation.accepted",
        "recommendation.reverted",
    ]
    again = kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure)
    assert (again.code, "is accepted nowhere" in again.err) == (2, True)
    accept(kr_here, unsure)


def test_what_changed_since_stays_where_a_change_is_taken_back(unsure, kr_here):
    """Only the lines that KR added go; where they were edited, a person is asked to."""
    accept(kr_here, unsure)
    knowledge = unsure / "knowledge/duc/decided-by-people.md"
    knowledge.write_text(knowledge.read_text() + "- mine\n")
    assert kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure).code == 0
    assert knowledge.read_text().endswith("- mine\n")
    assert UNSURE not in knowledge.read_text()
    accept(kr_here, unsure)
    knowledge.write_text(knowledge.read_text().replace("Redis 1", "Redis one"))
    refused = kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure)
    assert refused.code == 2
    assert "take these lines out yourself" in refused.err
    assert UNSURE in knowledge.read_text()


def test_it_is_accepted_once(unsure, kr_here):
    """The second time it says so, and how to take it back."""
    accept(kr_here, unsure)
    twice = kr_here("retro", "accept", UNSURE, cwd=unsure)
    assert twice.code == 2
    assert "is accepted already" in twice.err
    assert "kr retro revert" in twice.err


def test_a_file_that_changed_since_it_was_shown(unsure, kr_here):
    """The number holds for this very difference."""
    shown = kr_here("retro", "accept", UNSURE, cwd=unsure)
    number = re.search(r"--seen (\w+)", shown.err)[1]
    (unsure / "kr.yaml").write_text("agents:\n  duc:\n    timeout_seconds: 61\n")
    refused = kr_here("retro", "accept", UNSURE, "--seen", number, cwd=unsure)
    assert refused.code == 2
    assert "look at it again" in refused.err


@pytest.mark.parametrize("name", ["no-such-finding", "", "../../etc", "unsure-topic-duc-cachin"])
def test_an_unknown_id(unsure, kr_here, name):
    """It says where ids are."""
    refused = kr_here("retro", "accept", name, cwd=unsure)
    assert (refused.code, "kr retro FEATURE" in refused.err) == (2, True)


def test_a_link_out_of_the_project_is_not_followed(unsure, kr_here, tmp_path):
    """Nothing is written outside, and nothing else either."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (unsure / "knowledge").mkdir()
    (unsure / "knowledge/duc").symlink_to(outside)
    refused = kr_here("retro", "accept", UNSURE, cwd=unsure)
    assert refused.code == 2
    assert "leads out of the project" in refused.err
    assert list(outside.iterdir()) == []


def test_a_folder_that_cannot_be_made(unsure, kr_here):
    """The files are as they were, and so is the record; once it can be made, the change is accepted."""
    (unsure / "knowledge").write_text("a file")
    before = (unsure / "kr.yaml").read_text()
    refused = kr_here("retro", "accept", UNSURE, cwd=unsure)
    number = re.search(r"--seen (\w+)", refused.err)[1]
    failed = kr_here("retro", "accept", UNSURE, "--seen", number, cwd=unsure)
    assert (failed.code, "nothing was changed" in failed.err) == (1, True)
    assert (unsure / "kr.yaml").read_text() == before
    assert kinds(kr_here, unsure) == []
    (unsure / "knowledge").unlink()
    accept(kr_here, unsure)


def test_a_protected_file(unsure, kr_here):
    """It is not replaced, though the folder would allow it."""
    (unsure / "kr.yaml").chmod(0o444)
    refused = kr_here("retro", "accept", UNSURE, cwd=unsure)
    assert refused.code == 2
    assert "may not be written" in refused.err


def test_context_that_people_keep_adding_goes_into_the_intake_template(tmp_path, kr_here):
    """A line in a section of its own, which asks for it; without a template the message says how to name one."""
    folder = tmp_path / "p"
    contexts = (
        "The customer segment is small.",
        "Customer segment: students.",
        "It depends on the customer segment.",
    )
    with service(folder, veuve=Says(*[said("Unsure.", 50), said("Now I know.", 90)] * 3)) as made:
        for number, context in enumerate(contexts):
            reply(made, asked(made, f"Which plan for export {number}?", "scope"), "add_context", context)
    refused = kr_here("retro", "accept", SEGMENT, cwd=folder)
    assert refused.code == 2
    assert "retro.intake_template: there is no intake template" in refused.err
    template = folder / ".specify/templates/spec-template.md"
    template.parent.mkdir(parents=True)
    template.write_text("# Spec\n\n## Users\n")
    accept(kr_here, folder, SEGMENT)
    assert template.read_text() == (
        "# Spec\n\n## Users\n\n## Context that questions need\n\n"
        f"- Customer segment: [NEEDS CLARIFICATION: which customer segment?] <!-- {SEGMENT} -->\n"
    )


def test_topics_that_no_rule_knows_get_a_rule(tmp_path, kr_here):
    """It needs an agent; the usual rules stay, and the new one decides from then on."""
    folder = tmp_path / "p"
    with service(folder, duc=Says()) as made:
        for number in range(2):
            asked(made, f"Which hook {number}?", "fishing")
    refused = kr_here("retro", "accept", "unknown-topics-fishing", "--yes", cwd=folder)
    assert refused.code == 2
    assert "name one with `--agent`" in refused.err
    done = kr_here("retro", "accept", "unknown-topics-fishing", "--yes", "--agent", "duc", cwd=folder)
    assert done.code == 0, done.err
    for topic in ("fishing", "caching"):
        assert kr_here("route", "Which one?", "--topic", topic, cwd=folder).out.startswith("duc")


def test_a_threshold_is_lowered_and_raised_again(tmp_path, kr_here):
    """Needless escalations lower the agent's own threshold, but never that of a topic's rule."""
    folder = tmp_path / "p"
    with service(folder, duc=Says(said("Redis.", 75))) as made:
        for number in range(5):
            reply(made, asked(made, f"Cache {number}?", "caching"), "confirm")
    done = kr_here("retro", "accept", "needless-escalation-duc", "--yes", cwd=folder)
    assert done.code == 0, done.err
    shown = kr_here("route", "Which?", "--topic", "caching", "--explain", cwd=folder)
    assert "threshold: 75 (agent duc)" in shown.out
    assert kr_here("retro", "revert", "needless-escalation-duc", "--yes", cwd=folder).code == 0
    rules = {"routing": {"rules": [{"topic": "caching", "agent": "duc", "threshold": 80}]}}
    with service(folder, rules, duc=Says(said("Redis.", 75))) as made:
        for number in range(5):
            question = Question(text=f"Cache {number}?", topic="caching", feature_id="F-2")
            reply(made, made.ask(question), "confirm")
    refused = kr_here("retro", "accept", "needless-escalation-duc", "--yes", "--feature", "F-2", cwd=folder)
    assert refused.code == 2
    assert "does not lower that of a topic" in refused.err


def stating(made, feature, right):
    """Forty questions; people decide what is escalated and judge the spot checks, by the stated confidence."""
    for number in range(40):
        question = Question(text=f"Cache {number}?", topic="caching", feature_id=feature)
        result = made.ask(question)
        good = right(result.answer.confidence)
        if result.status != "accepted":
            reply(made, result, "confirm" if good else "correct", "" if good else "No.")
        else:
            for check in (checks := SpotChecks(made.pipeline)).waiting():
                checks.judge(check.id, "right" if good else "wrong", "ada")


@pytest.mark.req("V3")
def test_a_threshold_that_was_raised_is_lowered_when_verdicts_no_longer_call_for_it(tmp_path, kr_here):
    """Each retrospective looks whether the threshold that an earlier one raised is still needed."""
    folder = tmp_path / "p"
    answers = [said("Redis.", confidence) for _ in range(14) for confidence in (75, 85, 97)]
    with service(folder, duc=Says(*answers)) as made:
        stating(made, "F-1", lambda confidence: confidence == 97)
    done = kr_here("retro", "accept", "overconfident-agent-duc", "--yes", cwd=folder)
    assert done.code == 0, done.err
    raised = json.loads((folder / "kr.yaml").read_text())["agents"]["duc"]["threshold"]
    assert raised > 85
    values = {"agents": {"duc": {"threshold": raised}}}
    with service(folder, values, duc=Says(*answers)) as made:
        stating(made, "F-2", lambda _confidence: True)
    settings = '{"agents": {"duc": {"threshold": %s}}}'
    assert (folder / "kr.yaml").read_text() == settings % raised
    done = kr_here("retro", "accept", "outgrown-threshold-duc", "--yes", "--feature", "F-2", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "kr.yaml").read_text() == settings % 80
    (came,) = kr_here("retro", "F-2", "--json", cwd=folder).json["changes"][1:]
    assert came["id"] == "outgrown-threshold-duc"
    assert kr_here("retro", "revert", "outgrown-threshold-duc", "--yes", cwd=folder).code == 0
    assert (folder / "kr.yaml").read_text() == settings % raised


@pytest.mark.req("L5")
def test_a_lesson(tmp_path, kr_here):
    """Answers of the knowledge base that people overturn become a dated lesson, once."""
    folder = tmp_path / "p"
    roster = {
        "agents": {"research": {"role": "librarian", "plugin": "research"}},
        "routing": {"rules": [{"topic": "*", "agent": "research"}]},
    }
    with service(folder, roster, research=Says(said("Redis.", 55))) as made:
        for number in range(2):
            reply(made, asked(made, f"Cache {number}?", "caching"), "correct", "No.")
    done = kr_here("retro", "accept", "overturned-knowledge", "--yes", cwd=folder)
    assert done.code == 0, done.err
    lessons = (folder / "knowledge-base/lessons/_lessons-learned.md").read_text()
    assert re.search(
        r"- \[\d{4}-\d\d-\d\d\] \[story-creation, retro, overturned-knowledge\] Look through", lessons
    )
    listed = kr_here("lessons", "list", "--json", cwd=folder).json
    assert [one["tags"][0] for one in listed] == ["story-creation"]


def test_trust_follows_a_change_that_a_person_has_accepted(unsure, kr_here):
    """A trusted configuration stays trusted; one that was not is not by that."""
    accept(kr_here, unsure)
    assert not is_trusted(load(unsure, environ={}))
    kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure)
    assert kr_here("trust", cwd=unsure).code == 0
    accept(kr_here, unsure)
    assert is_trusted(load(unsure, environ={}))


def test_a_crash_between_file_and_record(unsure, kr_here):
    """Accepting again finishes what was begun, and writes nothing twice."""
    from kr_core.research import Pipeline
    from kr_core.retro.acceptance import Acceptance
    from kr_core.retro.effects import KIND

    with Pipeline.open(folder=unsure) as pipeline:
        acceptance = Acceptance(pipeline.config, pipeline.journal, pipeline.lessons)
        offer = acceptance.offer(UNSURE)
        change = pipeline.journal.change

        def dies(document, events=()):
            if document.status == "accepted":
                raise KeyboardInterrupt
            return change(document, events)

        pipeline.journal.change = dies
        with pytest.raises(KeyboardInterrupt):
            acceptance.accept(offer, "ada")
        pipeline.journal.change = change
        assert [one.status for one in pipeline.journal.documents(KIND)] == ["writing"]
    text = (unsure / "knowledge/duc/decided-by-people.md").read_text()
    accept(kr_here, unsure)
    assert (unsure / "knowledge/duc/decided-by-people.md").read_text() == text
    assert len(kinds(kr_here, unsure)) == 1
    assert kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure).code == 0
    assert not (unsure / "knowledge/duc/decided-by-people.md").exists()


def test_a_feature_that_is_called_like_an_action(tmp_path, kr_here):
    """`kr retro show accept` shows it."""
    with service(tmp_path / "p", duc=Says()) as made:
        made.ask(Question(text="Which?", topic="caching", feature_id="accept"))
    shown = kr_here("retro", "show", "accept", cwd=tmp_path / "p")
    assert shown.out.startswith("# Retrospective: accept")


@pytest.mark.req("V3")
def test_the_next_retrospective_says_what_came_of_it(tmp_path, kr_here):
    """The share of escalated answers that was predicted beside the one that was seen, and whether the finding is back."""
    folder = tmp_path / "p"
    with service(folder, duc=Says(said("Redis.", 75))) as made:
        for number in range(5):
            reply(made, asked(made, f"Cache {number}?", "caching"), "confirm")
    assert kr_here("retro", "accept", "needless-escalation-duc", "--yes", cwd=folder).code == 0
    values = json.loads((folder / "kr.yaml").read_text())
    assert values == {"agents": {"duc": {"threshold": 75}}}
    for feature, confidence, held in (("F-2", 76, True), ("F-3", 60, False)):
        with service(folder, values, duc=Says(said("Redis.", confidence))) as made:
            for number in range(12):
                made.ask(Question(text=f"Store {number}?", topic="caching", feature_id=feature))
            (came,) = made.generate_retro(feature).changes
        assert (came.id, came.answers, came.predicted) == ("needless-escalation-duc", 12, 0.0)
        assert (came.seen, came.held) == (0.0 if held else 1.0, held)
    assert "seen 100% of 12 answers: did not hold" in kr_here("retro", "F-3", cwd=folder).out
    (own,) = kr_here("retro", FEATURE, "--json", cwd=folder).json["changes"]
    assert (own["answers"], own["held"]) == (0, None)


TOML = '[project]\nname = "shop"  # ours\n\n[tool.kr.agents.duc]\ntimeout_seconds = 60  # long enough\n\n[tool.other]\nx = 1.50\n'
BMAD = "module: bso  # theirs\nuser_name: Ada\nagents:\n  duc:\n    timeout_seconds: 60  # long enough\n"


def moved(folder, file, text):
    """The project with its configuration in another file."""
    (folder / "kr.yaml").unlink()
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("pyproject.toml", TOML, 'knowledge = "knowledge/duc"\n'),
        ("_bmad/bso/config.yaml", BMAD, '    knowledge: "knowledge/duc"\n'),
    ],
)
def test_a_configuration_in_another_file_is_changed_in_its_own_form(unsure, kr_here, file, text, line):
    """`[tool.kr]` of a `pyproject.toml`, and BMAD's file: shown, written with all else as it was, used, and taken back."""
    path = moved(unsure, file, text)
    difference = accept(kr_here, unsure)
    assert f"+++ b/{file}" in difference
    assert f"+{line}" in difference
    assert path.read_text() == text.replace("# long enough\n", f"# long enough\n{line}")
    config = load(unsure, environ={})
    assert config.file == path
    assert config.routing.agents["duc"].knowledge == "knowledge/duc"
    assert kr_here("retro", "revert", UNSURE, "--yes", cwd=unsure).code == 0
    assert path.read_text() == text
    assert len(kinds(kr_here, unsure)) == 2


def test_a_configuration_that_has_no_plain_place_names_the_lines(unsure, kr_here):
    """An inline table is not taken apart: the message has what to write, in the form of the file."""
    path = moved(unsure, "pyproject.toml", "[tool.kr]\nagents = {duc = {timeout_seconds = 60}}\n")
    before = path.read_text()
    refused = kr_here("retro", "accept", UNSURE, cwd=unsure)
    assert refused.code == 2
    assert 'agents.duc.knowledge = "knowledge/duc"' in refused.err
    assert (path.read_text(), (unsure / "knowledge").exists()) == (before, False)


def test_a_value_of_bmads_that_kr_does_not_understand_is_left_alone(tmp_path, kr_here):
    """BMAD's file may use the name for something else: then a rule among these would not count, and nothing is written."""
    folder = tmp_path / "p"
    with service(folder, duc=Says()) as made:
        for number in range(2):
            asked(made, f"Which hook {number}?", "fishing")
    before = "routing:\n  rules:\n    - when: story\n      to: dev\n"
    path = moved(folder, "_bmad/bso/config.yaml", before)
    refused = kr_here("retro", "accept", "unknown-topics-fishing", "--agent", "duc", cwd=folder)
    assert refused.code == 2
    assert "has a value of others in the way of `routing.rules`" in refused.err
    assert path.read_text() == before


def test_a_rule_in_toml(tmp_path, kr_here):
    """The usual rules are written out with the new one, which decides from then on."""
    folder = tmp_path / "p"
    with service(folder, duc=Says()) as made:
        for number in range(2):
            asked(made, f"Which hook {number}?", "fishing")
    path = moved(folder, "pyproject.toml", "[tool.kr]\n")
    name = "unknown-topics-fishing"
    done = kr_here("retro", "accept", name, "--yes", "--agent", "duc", cwd=folder)
    assert done.code == 0, done.err
    for topic in ("fishing", "caching"):
        assert kr_here("route", "Which one?", "--topic", topic, cwd=folder).out.startswith("duc")
    assert kr_here("retro", "revert", name, "--yes", cwd=folder).code == 0
    assert path.read_text() == "[tool.kr]\n"
