"""Jinja's sandbox with limits: how much text a template may make, how many steps it may take, and for how long.

A template comes with a project, so it may be made to fill memory or never to end. Nothing can stop it from outside: a
thread cannot be ended, and one operation on a long text is not interrupted. So what it does is counted where it is
done. The compiled template counts every block that it enters; every operation that makes a value is refused before
the value would be too large; and each of them looks at the clock.
"""

from kr_core.template_limits.render_budget import RenderBudget, TemplateLimitError, budget, spending
from kr_core.template_limits.template_sandbox import LimitedSandbox

__all__ = ["LimitedSandbox", "RenderBudget", "TemplateLimitError", "budget", "spending"]
