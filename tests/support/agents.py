"""Projects with an agent that is a small program: how sure it is depends on what it is told."""

import json
import sys

PROGRAM = """
import json, sys
prompt = sys.stdin.read()
open({log!r}, "a").write(json.dumps(prompt) + "\\n")
for words, answer in {answers!r}:
    if words in prompt:
        break
print(json.dumps(answer))
"""
QUESTION = "Which session store should we use?"


def answer(
    content, confidence, reasons=("How many sessions there are",), rationale="It expires keys by itself."
):
    return {
        "answer": content,
        "rationale": rationale,
        "confidence": confidence,
        "uncertainty_reasons": list(reasons),
    }


UNSURE = answer("Use Redis.", 65)
SURE = answer("Use Redis with three replicas.", 92, ())
SHOWN = (QUESTION, "Use Redis.", "It expires keys by itself.", "How many sessions there are", "65", "80")
"""What a human must be shown of a case with `UNSURE`: question, answer, rationale, doubts, confidence and threshold."""


def project(folder, answers=(("40 servers", SURE), ("", UNSURE)), more=""):
    """A project in which `duc` answers by the first words that stand in its prompt; returns the file of prompts."""
    log = folder / "prompts.jsonl"
    program = folder / "agent.py"
    program.write_text(PROGRAM.format(log=str(log), answers=[list(one) for one in answers]))
    argv = json.dumps([sys.executable, "-I", "-S", str(program)])
    (folder / "kr.yaml").write_text(
        f"agents: {{duc: {{plugin: command}}}}\nplugins: {{command: {{argv: {argv}}}}}\n{more}"
    )
    return log


def prompts(log):
    return [json.loads(line) for line in log.read_text().splitlines()]
