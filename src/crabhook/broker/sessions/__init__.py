"""Sessions that live: what each does, the notes it is given, and two at work on one file."""
