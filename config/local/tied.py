"""Becomes another program that ends with its parent: `tied.py SIGNAL PARENT -- PROGRAM …`.

Run as a script, never imported. Linux sends SIGNAL to this process when the thread that started it is gone,
however that came about; the setting survives the exec. Elsewhere it only becomes the program.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    signal, parent, _, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal), 0, 0, 0)
        if os.getppid() != int(parent):
            sys.exit(1)  # The parent was gone before the wish was made.
    os.execv(command[0], command)  # noqa: S606  (that there is no shell is the point)


if __name__ == "__main__":
    main(sys.argv[1:])
