"""The figures of a retrospective: drawn by matplotlib as SVG that takes its ink from the page, each with its table."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections import Counter, defaultdict
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from kr_core.calibration import reliability, risk_coverage
from kr_core.calibration.calibrator import MINIMUM_VERDICTS
from kr_core.entry_points import require
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["Picture", "pictures"]

_BLUE, _ORANGE = "#0072b2", "#d55e00"
"""Of the palette of Okabe and Ito, which people with any colour vision tell apart."""
_INK = "#010203"
"""Stands for the ink of the page, which is dark on light or light on dark."""
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_FEW = 5
"""Answers below which a cell of the heat map is not coloured."""
_LONGEST = 40
_MOST = 30
"""Agents and topics that the heat map has room for."""
_REFERENCE = re.compile(r"url\(#([^()#]{1,200})\)")


class Picture(NamedTuple):
    """A figure, the same in words, and its table; `svg` is empty where there are too few cases to draw."""

    name: str
    title: str
    text: str
    svg: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def pictures(questions: Sequence[AskedQuestion]) -> list[Picture]:
    """Reliability, risk and coverage, topics and agents, and the course of time.

    Raises:
        PluginError: matplotlib is not installed.
    """
    require("matplotlib", "pictures")
    return [
        *_of_verdicts(questions),
        _heat_map(questions),
        _timeline(questions),
    ]


def _of_verdicts(questions: Sequence[AskedQuestion]) -> list[Picture]:
    judged = [
        (one.confidence, one.verdict)
        for question in questions
        for one in question.rounds
        if one.verdict is not None
    ]
    titles = (("reliability", "Stated and true"), ("risk-coverage", "Risk and coverage"))
    if len(judged) < MINIMUM_VERDICTS:
        few = f"Not enough verdicts ({len(judged)} of {MINIMUM_VERDICTS})."
        return [Picture(name, title, few, "", (), ()) for name, title in titles]
    stated, right = [one for one, _ in judged], [fact for _, fact in judged]
    bins = reliability(stated, right)

    def draw_bins(axes: Any) -> None:
        axes.plot([0, 100], [0, 100], "--", color=_INK, linewidth=1)
        axes.plot(
            [one.confidence for one in bins],
            [100 * one.accuracy for one in bins],
            "o-",
            color=_BLUE,
            clip_on=False,
        )
        axes.set(xlabel="stated confidence", ylabel="% right", xlim=(0, 101), ylim=(0, 101))

    curve = risk_coverage(stated, right)

    def draw_curve(axes: Any) -> None:
        axes.plot(
            [100 * one for one, _ in curve],
            [100 * risk for _, risk in curve],
            "o-",
            color=_ORANGE,
            clip_on=False,
        )
        axes.set(xlabel="% of answers accepted", ylabel="% of these wrong", xlim=(0, 101), ylim=(-1, 101))

    most = max(bins, key=lambda one: abs(one.confidence - 100 * one.accuracy))
    return [
        Picture(
            *titles[0],
            f"Over {len(judged)} verdicts. The largest gap: a stated confidence of {most.confidence:.0f}, of which "
            f"{most.accuracy:.0%} came true (n = {most.cases}). On the dashed line both are the same.",
            _drawn("reliability", draw_bins),
            ("Stated", "Right", "n"),
            tuple((f"{one.confidence:.0f}", f"{one.accuracy:.0%}", str(one.cases)) for one in bins),
        ),
        Picture(
            *titles[1],
            f"Over {len(judged)} verdicts. If all were accepted, {curve[-1][1]:.0%} would be wrong; of the surest "
            f"{curve[0][0]:.0%}, {curve[0][1]:.0%} are.",
            _drawn("risk-coverage", draw_curve),
            ("Accepted", "Wrong"),
            tuple((f"{one:.0%}", f"{risk:.0%}") for one, risk in curve),
        ),
    ]


def _heat_map(questions: Sequence[AskedQuestion]) -> Picture:
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for question in questions:
        for one in question.rounds:
            cells[_name(one.topic or "none"), _name(one.agent)].append(one.confidence)
    counts = Counter({key: len(stated) for key, stated in cells.items()})
    topics = sorted({topic for topic, _ in dict(counts.most_common(_MOST))})
    agents = sorted({agent for _, agent in dict(counts.most_common(_MOST))})

    def shown(topic: str, agent: str) -> float:
        stated = cells.get((topic, agent), [])
        return mean(stated) if len(stated) >= _FEW else float("nan")

    def draw(axes: Any) -> None:
        values = [[shown(topic, agent) for agent in agents] for topic in topics]
        mesh = axes.pcolormesh(values, cmap="viridis", vmin=0, vmax=100)
        axes.set_xticks([at + 0.5 for at in range(len(agents))], agents)
        axes.set_yticks([at + 0.5 for at in range(len(topics))], topics)
        bar = axes.figure.colorbar(mesh, ax=axes, label="mean stated confidence")
        bar.solids.set(rasterized=False, edgecolor="face")  # a page's policy forbids images inside a figure

    enough = any(len(stated) >= _FEW for stated in cells.values())
    total = sum(counts.values())
    return Picture(
        "topics-agents",
        "Topics and agents",
        f"The mean confidence that each agent stated on each topic, over {total} answers. Cells with fewer than "
        f"{_FEW} answers are blank.",
        _drawn("topics-agents", draw) if enough else "",
        ("Topic", "Agent", "Stated", "n"),
        tuple(
            (topic, agent, f"{mean(stated):.0f}", str(len(stated)))
            for (topic, agent), stated in sorted(cells.items())
        ),
    )


def _timeline(questions: Sequence[AskedQuestion]) -> Picture:
    """Answers by day, accepted and escalated."""
    days: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        for one in question.rounds:
            if one.time is not None:
                days[f"{one.time:%Y-%m-%d}"].append(one.accepted)
    rows = [(day, sum(passed), len(passed) - sum(passed)) for day, passed in sorted(days.items())]

    def draw(axes: Any) -> None:
        names = [day for day, _, _ in rows]
        accepted = [passed for _, passed, _ in rows]
        axes.bar(names, accepted, color=_BLUE, label="accepted")
        axes.bar(
            names, [one for _, _, one in rows], bottom=accepted, color=_ORANGE, hatch="//", label="escalated"
        )
        axes.set_ylabel("answers")
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_xticks(names[:: max(1, len(names) // 4)])
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)

    total = sum(map(len, days.values()))
    return Picture(
        "timeline",
        "Course of time",
        f"{total} answers on {len(rows)} {'day' if len(rows) == 1 else 'days'}; hatched bars are answers that did not pass the gate.",
        _drawn("timeline", draw) if rows else "",
        ("Day", "Accepted", "Escalated"),
        tuple((day, str(passed), str(failed)) for day, passed, failed in rows),
    )


def _name(text: str) -> str:
    """A name that fits beside an axis, and that XML can hold."""
    return textwrap.shorten(printable(text), _LONGEST, placeholder="...") or "none"


# -- SVG ---------------------------------------------------------------------------------------------------


def _drawn(name: str, draw: Callable[[Any], None]) -> str:
    """A figure as an SVG element that can stand in any page: without style sheets, with ids of its own."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    ink: Any = dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "hatch.color"), _INK
    )
    with mpl.rc_context({**ink, "svg.fonttype": "none", "svg.hashsalt": name, "text.parse_math": False}):
        figure = Figure(figsize=(5.6, 3.6), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        file = io.StringIO()
        with warnings.catch_warnings():  # of letters that it has no font for; the browser has one
            warnings.simplefilter("ignore", UserWarning)
            figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return _plain(ET.fromstring(file.getvalue()), name)  # noqa: S314  written by matplotlib a line above


def _plain(root: ET.Element, name: str) -> str:
    ET.register_namespace("", _SVG)
    for above in (root, *root.iter(f"{{{_SVG}}}defs")):
        for one in [child for child in above if child.tag in {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"}]:
            above.remove(one)
    for one in root.iter():
        for declaration in one.attrib.pop("style", "").split(";"):
            key, _, value = declaration.partition(":")
            if value and key.strip() != "font-family":
                one.set(key.strip(), value.strip().replace(_INK, "currentColor"))
        _rename(one, name)
    size = root.attrib
    root.attrib = {
        "viewBox": size["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-text",
        "stroke-linejoin": "round",
        "fill": "currentColor",
        "class": "figure",
    }
    return ET.tostring(root, encoding="unicode")


def _rename(one: ET.Element, name: str) -> None:
    """Give an element's id, and what refers to one, the figure's name: a page has several figures."""
    if "id" in one.attrib:
        one.set("id", f"{name}-{one.attrib['id']}")
    link = one.attrib.pop(_LINK, "")
    if link.startswith("#"):
        one.set("href", f"#{name}-{link[1:]}")
    for key, value in one.attrib.items():
        one.set(key, _REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value))
