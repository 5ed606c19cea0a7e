"""What the installer registers as `PYTHON -I -S .../hook/run.py`: compiled at every start."""

import sys

if __name__ == "__main__":
    try:
        # Behind everything else, so that nothing beside us can pass for the standard library.
        sys.path.append(__file__.rpartition("/crabhook/hook/")[0])
        from crabhook.hook.client import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
