"""Helpers for plugins: search, text, evidence, files, projects.

They may change in minor versions of KR; `kr_core` and `kr_core.plugin` change only with the contract.
"""

TYPE_CHECKING = False  # as in `kr_core`
if TYPE_CHECKING:
    from kr_core import yaml_text as yaml_text
    from kr_core.calibration.logistic import LogisticModel as LogisticModel
    from kr_core.collector import uncollected as uncollected
    from kr_core.entry_points import require as require
    from kr_core.escalation.commands import CommandFault as CommandFault
    from kr_core.escalation.commands import ParsedReplies as ParsedReplies
    from kr_core.escalation.commands import ReplyCommand as ReplyCommand
    from kr_core.escalation.commands import read_replies as read_replies
    from kr_core.escalation.page_url import served_at as served_at
    from kr_core.escalation.render import for_terminal as for_terminal
    from kr_core.evidence.coverage import ABOUT as ABOUT
    from kr_core.evidence.coverage import COVERED as COVERED
    from kr_core.evidence.coverage import FULLY as FULLY
    from kr_core.evidence.coverage import answered as answered
    from kr_core.evidence.coverage import is_expected as is_expected
    from kr_core.evidence.coverage import is_named as is_named
    from kr_core.evidence.coverage import takes_kind as takes_kind
    from kr_core.evidence.direct_answer import metadata_field as metadata_field
    from kr_core.evidence.heads import marks_nothing as marks_nothing
    from kr_core.evidence.sentences import sentences as sentences
    from kr_core.evidence.soft_errors import refusal as refusal
    from kr_core.evidence.untold_parts import untold_parts as untold_parts
    from kr_core.expedition.facts.axiom_store import AxiomStore as AxiomStore
    from kr_core.files import lies_within as lies_within
    from kr_core.files import lock as lock
    from kr_core.files import make_state_folder as make_state_folder
    from kr_core.files import read_bytes as read_bytes
    from kr_core.files import read_text as read_text
    from kr_core.files import too_many_values as too_many_values
    from kr_core.files import write_atomically as write_atomically
    from kr_core.knowledge.ids import fold_name as fold_name
    from kr_core.knowledge.ids import inside as inside
    from kr_core.knowledge.matching import MatchKeys as MatchKeys
    from kr_core.knowledge.matching import match_keys as match_keys
    from kr_core.knowledge.report_facts import ReportFacts as ReportFacts
    from kr_core.knowledge.report_facts import is_framework_of as is_framework_of
    from kr_core.knowledge.report_facts import report_facts as report_facts
    from kr_core.knowledge.topic_lookup import TopicIndex as TopicIndex
    from kr_core.knowledge.topic_lookup import TopicLookup as TopicLookup
    from kr_core.net.body import json_of as json_of
    from kr_core.net.domains import host_of as host_of
    from kr_core.net.domains import site_of as site_of
    from kr_core.net.main_text import main_text as main_text
    from kr_core.net.redaction import redacted as redacted
    from kr_core.processes import end_group as end_group
    from kr_core.processes import start_group as start_group
    from kr_core.project.distributions import Distribution as Distribution
    from kr_core.project.distributions import OwnFiles as OwnFiles
    from kr_core.project.distributions import import_names as import_names
    from kr_core.project.package_places import module_roots as module_roots
    from kr_core.project.package_places import source_address as source_address
    from kr_core.project.project import LocalProject as LocalProject
    from kr_core.project.project import is_python as is_python
    from kr_core.project.version_gaps import gap as gap
    from kr_core.question.analysis import is_same_version as is_same_version
    from kr_core.question.analysis import versions_between as versions_between
    from kr_core.question.parsed_question import ParsedQuestion as ParsedQuestion
    from kr_core.question.parsed_question import given_values as given_values
    from kr_core.question.parsed_question import parse_question as parse_question
    from kr_core.question.question_names import Identifier as Identifier
    from kr_core.question.question_names import named_elsewhere as named_elsewhere
    from kr_core.question.question_names import says_parameter as says_parameter
    from kr_core.question.question_names import telling_stems as telling_stems
    from kr_core.search.asked_names import Resolved as Resolved
    from kr_core.search.documents.documents import Documents as Documents
    from kr_core.search.documents.hits import DocumentHit as DocumentHit
    from kr_core.search.expected_names import ExpectedNames as ExpectedNames
    from kr_core.search.expected_names import look_up_expected as look_up_expected
    from kr_core.search.name_resolution import Resolution as Resolution
    from kr_core.search.name_resolution import look_up as look_up
    from kr_core.search.name_resolution import resolve as resolve
    from kr_core.search.passage_index import FORMAT as _FORMAT
    from kr_core.search.passage_index import Hit as Hit
    from kr_core.search.passage_index import IndexedPassage as IndexedPassage
    from kr_core.search.passage_index import PassageIndex as PassageIndex
    from kr_core.search.passage_index import build as _build
    from kr_core.search.passage_score import Focus as Focus
    from kr_core.search.passage_score import Pin as Pin
    from kr_core.search.passage_score import RankedPassage as RankedPassage
    from kr_core.search.passage_score import is_about_other_versions as is_about_other_versions
    from kr_core.search.ranking import rank as rank
    from kr_core.search.symbol_parts import allowed_values as allowed_values
    from kr_core.search.symbol_parts import described_parameters as described_parameters
    from kr_core.search.symbol_parts import ranked_members as ranked_members
    from kr_core.search.symbol_parts import telling_parameters as telling_parameters
    from kr_core.search.symbol_parts import weighed_parameters as weighed_parameters
    from kr_core.search.terms import SAID as SAID
    from kr_core.search.terms import Term as Term
    from kr_core.search.terms import closest_name as closest_name
    from kr_core.search.terms import parts_of as parts_of
    from kr_core.search.terms import question_terms as question_terms
    from kr_core.search.terms import share_of_question as share_of_question
    from kr_core.templates import render as _render
    from kr_core.text import content_words as content_words
    from kr_core.text import is_opposite as is_opposite
    from kr_core.text import split_identifier as split_identifier
    from kr_core.text import stem as stem
    from kr_core.text import words as words
    from kr_core.toml_text import load_toml as load_toml

    # Another name than at home is an export to type checkers only by assignment.
    INDEX_FORMAT = _FORMAT
    build_index = _build
    render_template = _render

if not TYPE_CHECKING:  # type checkers know the names above, and report any other

    def __getattr__(name: str) -> object:
        from kr_core._door import value_of

        return value_of(__name__, name)

    def __dir__() -> list[str]:
        from kr_core._door import names_of

        return sorted(names_of(__name__))
