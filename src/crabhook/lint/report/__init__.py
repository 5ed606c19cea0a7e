"""A report's forms: text for people, JSON for programs, SARIF for the places that show findings."""
