"""The web desk's HTML, made from values: no server, no clock, no input and output."""
