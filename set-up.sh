#!/bin/sh
# Makes .venv from a lock file: set-up.sh PYTHON LOCK. Does nothing where it is already so.
set -eu
python=$1 lock=$2
[ -x .venv/bin/python ] || "$python" -m venv .venv
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install -q uv
.venv/bin/uv pip sync -q --python .venv/bin/python "$lock"
