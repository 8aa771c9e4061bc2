"""The bare loop on several connections at once: two processes, so that one interpreter is not what is measured."""

import subprocess
import sys
import time
from threading import Thread

from bench import place

PROCESSES = 2
THREADS = 4


def rate(steps: int) -> float:
    """Steps a second of eight connections, each inserting so many."""
    words = [sys.executable, "-m", "bench.floor", str(steps)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(words, **pipes) for _ in range(PROCESSES)]  # type: ignore[call-overload]
    for process in processes:
        process.stdout.readline()  # Connected and warm.
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    spans = [[float(number) for number in process.stdout.readline().split()] for process in processes]
    for process in processes:
        process.communicate()
    took = max(over for _begun, over in spans) - min(begun for begun, _over in spans)
    return PROCESSES * THREADS * steps / took


def main(steps: int) -> None:
    """One of the processes: wait for the word, insert, say when it began and ended."""
    connections = [place.connect() for _ in range(THREADS)]
    for each in connections:
        place.insert(each, 20)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    threads = [Thread(target=place.insert, args=(each, steps)) for each in connections]
    begun = time.time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(f"{begun} {time.time()}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
