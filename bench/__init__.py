"""What it costs: each measurement beside what it is measured against, in the same run on the same server."""
