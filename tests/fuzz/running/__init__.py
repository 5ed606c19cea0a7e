"""Shell lines made up, judged, and run where they are allowed: what ran must be what rules cover."""
