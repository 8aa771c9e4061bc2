"""For `up --with tests.faults.quitter`: a process that ends as soon as it is started."""

from config.supervisor.processes import Process

PROCESSES = (Process("quitter", ("/bin/sh", "-c", "exit 3")),)
