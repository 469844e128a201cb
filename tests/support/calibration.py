"""Agents with a known relation between what they state and what is right."""


def overconfident(count, random):
    """States 60 to 100, and is right a third less often than that."""
    confidence = [random.choice([60, 70, 80, 85, 90, 95, 100]) for _number in range(count)]
    return confidence, [random.random() < one / 150 for one in confidence]


def steady(count, random):
    """Is right as often as it says."""
    confidence = [random.choice([60, 70, 80, 85, 90, 95]) for _number in range(count)]
    return confidence, [random.random() < one / 100 for one in confidence]
