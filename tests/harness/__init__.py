"""What stands under the tests: services, a database each, workers, a live server, a browser."""
