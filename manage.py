#!/usr/bin/env python
"""The one command line of Vermilion."""

import os
import sys

from config.commandline import run

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    run(sys.argv)
