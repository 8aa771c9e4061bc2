"""Makes `.venv` from a lock file: `python3 config/set_up.py requirements.lock`. Does nothing where it is already so.

Only the standard library, and words that an old Python can still read: it must be able to say that it is too old.
"""

import fcntl
import hashlib
import os
import ssl
import subprocess
import sys

NEEDED = (3, 11)
VENV = ".venv"
UV = "uv==0.13.9"
PYTHON = os.path.join(VENV, "bin", "python")
# What is in the folder: written last, removed first, so that an interrupted set-up is never taken for a whole one.
STAMP = os.path.join(VENV, "made-from")
LOCKS = {
    "requirements.lock": ("requirements.lock",),
    "requirements-dev.lock": ("requirements.lock", "requirements-dev.lock"),
}
FULL = "The disk is full. Nothing is broken; make room, then type the same again."


def stop(line):
    sys.stderr.write(line + "\n")
    sys.exit(1)


def place():
    """Where the folder stands and which Python made it: moved or upgraded, it is of no use."""
    return hashlib.sha256(("%s %s" % (os.getcwd(), sys.version)).encode()).hexdigest()


def contents(lock):
    """Which packages it holds."""
    made = hashlib.sha256()
    for name in LOCKS[lock]:
        with open(name, "rb") as file:
            made.update(file.read())
    return "%s:%s" % (lock, made.hexdigest())


def stamp():
    """The place and the contents that the last whole set-up noted."""
    try:
        with open(STAMP) as file:
            return (file.read().split() + ["", ""])[:2]
    except OSError:
        return ["", ""]


def has_certificates():
    """Whether the machine itself says whom to believe; a small container may not."""
    known = ssl.get_default_verify_paths()
    return sys.platform == "darwin" or bool(known.cafile or (known.capath and os.listdir(known.capath)))


def trusting():
    """The environment, in which uv believes whom the machine believes (a proxy's own CA), unless told otherwise."""
    told = "UV_SYSTEM_CERTS" in os.environ or "UV_NATIVE_TLS" in os.environ  # An older uv reads the second.
    wish = {} if told or not has_certificates() else {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
    return dict(os.environ, **wish)


def run(what, *command):
    """Run a command quietly; where it fails, say in one line why, and end."""
    try:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, check=False, env=trusting(), **pipes)
    except OSError as error:
        stop("%s failed: %s." % (what, error.strerror))
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return
    if "No space left" in said or "os error 28" in said:
        stop(FULL)
    if "ensurepip" in said:
        stop("This Python cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv")
    sys.stderr.write(said + "\n")
    stop("%s failed; the lines above say why. Type the same again once that is mended." % what)


def works(*words):
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.call([PYTHON, *words], **quiet) == 0
    except OSError:
        return False


def environment():
    """An empty environment with uv in it, if uv can be had; made anew unless a whole one is there.

    Without a pip of its own, which takes longer to install than all the packages, unless nothing else installs.
    """
    sys.stderr.write("Making .venv with Python %d.%d.\n" % sys.version_info[:2])
    run("Making .venv", sys.executable, "-m", "venv", "--without-pip", "--clear", VENV)
    if not pip_installs(sys.executable, "-m", "pip", "--python", PYTHON):
        own_pip()
        pip_installs(PYTHON, "-m", "pip")


def own_pip():
    run("Making .venv", PYTHON, "-m", "ensurepip", "--default-pip")


def pip_installs(*pip):
    """Whether this pip can install uv."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    wish = ("install", "-q", "--no-deps", "--disable-pip-version-check", UV)
    return subprocess.call([*pip, *wish], env=dict(os.environ, PIP_USER="0"), **quiet) == 0


def packages(lock):
    sys.stderr.write("Installing the packages of %s.\n" % lock)
    if works("-m", "uv", "--version"):
        run("Installing the packages", PYTHON, "-m", "uv", "pip", "sync", "-q", "--python", PYTHON, lock)
    else:
        own_pip()
        run("Installing the packages", PYTHON, "-m", "pip", "install", "-q", "--require-hashes", "-r", lock)


def set_up(lock):
    here, there = stamp()
    whole = here == place() and works("-c", "import django")
    # Whoever tests has also what it takes to run.
    if whole and there in (contents(lock), contents("requirements-dev.lock")):
        return
    if whole:
        os.remove(STAMP)
    else:
        environment()
    packages(lock)
    with open(STAMP, "w") as file:
        file.write("%s %s" % (place(), contents(lock)))


def main():
    if sys.version_info < NEEDED:
        stop(
            "Vermilion needs Python %d.%d or newer; %s is %d.%d. Name a newer one: make PYTHON=python3.12 …"
            % (*NEEDED, sys.executable, *sys.version_info[:2])
        )
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(".set-up.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        set_up(sys.argv[1])


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        stop(FULL if error.errno == 28 else "Setting up failed: %s." % error)
    except KeyboardInterrupt:
        stop("Stopped; the next start sets up the rest.")
