"""What spec.md and plan.md say of tasks."""

import pytest

from kr_core.speckit.feature_files import acceptance_criteria, feature_type, source_tree

pytestmark = pytest.mark.req("X1")

SPEC = """\
# Feature Specification: Sessions

### User Story 1 - Sign in (Priority: P1)

Text.

**Acceptance Scenarios**:

1. **Given** a user, **When** they sign in, **Then** they
   see the page.
2. **Given** a wrong password, **Then** they do not.

**Independent Test**: Sign in.

### User Story 2 - Sign out

**Acceptance Scenarios**:

1. **Given** a session, **Then** it ends.

## Requirements
- **FR-001**: System MUST
"""
PLAN = """\
## Project Structure

### Documentation (this feature)

```text
specs/001/
├── plan.md
```

### Source Code (repository root)

```text
# [REMOVE IF UNUSED] Option 1: Single project
lib/
└── x/

# Option 2
backend/
├── src/
│   ├── models/
│   └── api.py
└── tests/
k8s/
```
"""


def test_each_story_has_its_scenarios():
    """A wrapped one is whole; what follows them is none."""
    assert acceptance_criteria(SPEC) == {
        "US1": (
            "Given a user, When they sign in, Then they see the page.",
            "Given a wrong password, Then they do not.",
        ),
        "US2": ("Given a session, Then it ends.",),
    }


def test_the_source_tree_is_that_of_the_plan():
    """Without the feature's documents, and without options that nobody chose."""
    assert source_tree(PLAN) == ("backend/", "backend/src/", "backend/src/models/", "backend/tests/", "k8s/")
    assert source_tree("") == ()


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("**Feature Type**: Infra/DevOps", "infra/devops"),
        ("- **Feature Type:** Config Update", "config update"),
        ("Feature Type: backend", "backend only"),
        ("**Feature Type**: [NEEDS CLARIFICATION]", ""),
        ("**Feature Type**: Music", ""),
        ("", ""),
    ],
)
def test_the_type_of_a_feature_is_read_where_it_is_known(text, type_):
    """One that the seed does not have says nothing."""
    assert feature_type(text) == type_
