"""The messages of a team as they were first described, over as many lines."""

SEEDS_REQUEST = """\
RESEARCH_REQUEST: {
  "story_key": "3-1",
  "requesting_agent": "dev-runner-3-1",
  "queries": [
    {
      "query": "How to configure virtual scrolling with dynamic row heights?",
      "framework": "vue-easytable",
      "framework_version": "2.x",
      "topic": "virtual scrolling configuration",
      "tags": ["virtual-scroll", "row-height", "performance"],
      "priority": "high"
    }
  ]
}"""
SEEDS_INDEX = """
- id: "vue-easytable-virtual-scroll"
  framework: "vue-easytable"
  framework_version: "2.x"
  topic: "virtual scrolling configuration"
  tags: ["virtual-scroll", "row-height", "performance"]
  path: "frameworks/vue-easytable/virtual-scroll.md"
  created: "2026-01-20"
  last_accessed: "2026-02-05"
  status: "{status}"
"""
SEEDS_ANSWER = "To configure virtual scrolling with dynamic row heights, use <ve-table> with `virtual-scroll-option` prop."
SEEDS_ROSTER = """\
{
  "msg_type": "AGENT_ROSTER_BROADCAST",
  "session_id": "sprint-xxx",
  "roster": {
    "residents": ["scrum-master", "knowledge-researcher", "debugger"],
    "slaves": ["slave-batch-1"],
    "temps": ["story-creator-3-1", "dev-runner-3-1"]
  }
}"""
