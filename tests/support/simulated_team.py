"""A team of agents whose accuracy is known, taken through KR for several features, with and without retrospectives.

Agents, people and questions are simulated and follow from a seed; routing, gate, spot checks, retrospectives and what accepting
a recommendation writes are KR's own. Only the draw of spot checks differs from run to run: it follows from new ids.

Two things are a model of what people and agents make of KR's files, and are switched on by `benefits`: an agent is right more
often about a topic for each bullet about it in its prompt, and whoever writes a feature's questions gives the context that the
intake template asks for.
"""

import json
from math import exp, log
from random import Random
from typing import NamedTuple

from kr_core import HumanResponse, KnowledgeRouterService, Pipeline, Question
from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.plugin import Reply
from kr_core.retro.acceptance import Acceptance
from kr_core.review.spot_check_review import SpotChecks

FEATURES = 10
TEMPLATE = "intake.md"
SEGMENT = "customer segment"
BULLET, BULLETS = 0.35, 5
"""By how much a bullet in the prompt raises the log-odds of being right, and how many count."""
SPREAD = 1.0
"""How much questions of one topic differ in difficulty, in log-odds."""
_OPTIONS = 1000
_SHOPS = ("small shops", "schools", "large firms", "students")


class Topic(NamedTuple):
    """What an agent knows of a topic, in percent."""

    agent: str
    right: int
    """How often it is right about a question of middling difficulty."""
    thinks: int
    """How often it believes to be."""


TOPICS = {
    "caching": Topic("duc", 92, 95),
    "database": Topic("duc", 88, 95),
    "security": Topic("duc", 55, 93),  # overconfident: it does not know what it does not know
    "queues": Topic("duc", 60, 60),
    "scope": Topic("veuve", 85, 90),
    "pricing": Topic("veuve", 85, 88),  # needs to know the customer segment
    "personas": Topic("veuve", 50, 85),  # overconfident
    "accessibility": Topic("marie", 95, 72),  # better than it says
    "usability": Topic("marie", 90, 66),
    "licences": Topic("marie", 90, 84),  # no rule knows this topic
}
RULES = [{"topic": name, "agent": one.agent} for name, one in TOPICS.items() if name != "licences"]


class Outcome(NamedTuple):
    """What a feature's questions came to."""

    asked: int
    accepted: int
    right: int
    """Of the accepted answers."""
    escalated: int
    """Questions of which a human heard before they had an answer."""


class _Agents:
    """Answers as one of the team: right as often as it knows, and as sure as it believes to be."""

    def __init__(self, seed, *, benefits):
        self.seed = seed
        self.benefits = benefits

    async def run(self, job):
        question = job.question
        about, drawn = TOPICS[question.topic], Random(f"{self.seed} {question.feature_id} {question.id}")
        known, thought, luck, noise = (
            drawn.gauss(0, SPREAD),
            drawn.gauss(0, 0.3),
            drawn.random(),
            drawn.random(),
        )
        bullets = min(job.system.count(f"] {question.topic}: "), BULLETS) if self.benefits else 0
        learned = BULLET * bullets
        right, stated = (
            _odds(about.right) + known + learned,
            _odds(about.thinks) + known + learned + thought,
        )
        if question.topic == "pricing" and SEGMENT not in job.prompt.casefold():
            right, stated = 0.0, 0.4 + noise
        option = truth(self.seed, question.feature_id, question.id)
        option += luck >= _share(right)
        fields = {
            "answer": _way(option),
            "rationale": "It fits.",
            "confidence": min(max(5 * round(20 * _share(stated)), 5), 99),
            "uncertainty_reasons": [],
        }
        return Reply(text=json.dumps(fields))


def truth(seed, feature, name):
    """The number of the way that is right, which people know."""
    return Random(f"truth {seed} {feature} {name}").randrange(0, _OPTIONS, 2)


def run(folder, seed, *, questions, retros=False, benefits=False, features=FEATURES):
    """Take the team through its features; what each came to.

    Args:
        folder: of the project, which is made.
        seed: of agents, questions and people.
        questions: of each feature.
        retros: whether people accept what each feature's retrospective recommends, and let the gate use what it learned.
        benefits: whether agents and authors make something of the knowledge and the template that are written then.
        features: how many.
    """
    folder.mkdir(parents=True)
    (folder / TEMPLATE).write_text("# Feature\n", "utf-8")
    settings = {
        "logs": [], "routing": {"rules": RULES}, "retro": {"intake_template": TEMPLATE},
        "agents": {name: {"plugin": name} for name in ("duc", "veuve", "marie")},
        "calibration": "calibrated" if retros else "shadow",
    }  # fmt: skip
    (folder / "kr.yaml").write_text(json.dumps(settings, indent=2), "utf-8")
    came = []
    for number in range(1, features + 1):
        feature = f"F-{number}"
        agents = _Agents(seed, benefits=benefits)
        loaded = load(folder, environ={"KR_CACHE_DIR": str(folder / "cache")})
        pipeline = Pipeline(loaded, agents=dict.fromkeys(("duc", "veuve", "marie"), agents))
        with KnowledgeRouterService(pipeline) as service:
            came.append(_feature(service, folder, seed, feature, questions, benefits=benefits))
            if retros:
                _accept_all(service, feature)
    return came


def _feature(service, folder, seed, feature, count, *, benefits):
    """Ask the questions of a feature; people answer what is put to them, and judge the spot checks at its end."""
    chance = Random(f"topics {seed} {feature}")
    asks_for_it = benefits and SEGMENT in (folder / TEMPLATE).read_text("utf-8").casefold()
    accepted, escalated, given = [], 0, {}
    for number in range(count):
        topic, segment = chance.choice(list(TOPICS)), f"The {SEGMENT} is {chance.choice(_SHOPS)}."
        text, context = f"Which way for part {number} of {feature}?", segment if asks_for_it else ""
        question = Question(id=f"q{number}", feature_id=feature, topic=topic, text=text, context=context)
        wanted = _way(truth(seed, feature, question.id))
        result = service.ask(question)
        given[result.exchange_id] = wanted
        escalated += result.status != "accepted"
        if result.status != "accepted" and topic == "pricing" and not context:
            added = HumanResponse(action="add_context", content=segment, by="ada")
            result = service.reply(result.escalation.id, added)
            given[result.exchange_id] = wanted
        if result.status == "accepted":
            accepted.append(result.answer.content == wanted)
        else:
            _decide(service, result, wanted)
    checks = SpotChecks(service.pipeline)
    runs = {one.id: one.run for one in checks.waiting()}
    for card in checks.cards(limit=len(runs)):
        checks.judge(card.id, "right" if card.claim == given[runs[card.id]] else "wrong", "ada")
    return Outcome(count, len(accepted), sum(accepted), escalated)


def _decide(service, result, wanted):
    """A person confirms what is right, and corrects what is not."""
    right = result.answer is not None and result.answer.content == wanted
    reply = HumanResponse(action="confirm" if right else "correct", content="" if right else wanted, by="ada")
    service.reply(result.escalation.id, reply)


def _accept_all(service, feature):
    """Accept what KR can write of what the retrospective recommends, but no single customer for the template; the ids."""
    pipeline, done = service.pipeline, []
    acceptance = Acceptance(pipeline.config, pipeline.journal, pipeline.lessons)
    for advice in service.generate_retro(feature).recommendations:
        if advice.about.get("phrase", SEGMENT) != SEGMENT:
            continue
        try:
            acceptance.accept(acceptance.offer(advice.id, feature, agent="marie"), "ada")
        except ConfigError:  # nothing to write, or not for KR to write
            continue
        done.append(advice.id)
    return done


def _way(option):
    return f"Way {option}."


def _odds(percent):
    return log(percent / (100 - percent))


def _share(odds):
    return 1 / (1 + exp(-odds))
