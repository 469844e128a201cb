"""Who answers: agents are chosen, asked and weighed, and their replies are read."""
