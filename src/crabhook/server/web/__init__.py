"""The web desk's port: pages for a browser, over the same service as desks elsewhere."""
