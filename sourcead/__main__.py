"""`python -m sourcead`, the command line: see `sourcead.cli`."""

from sourcead.cli.commands import main

if __name__ == "__main__":
    raise SystemExit(main())
