"""The desk on the full screen: `app` is the rim, `screen` the state, `layout` the drawing."""
