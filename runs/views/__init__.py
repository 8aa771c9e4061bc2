"""The pages of runs and of the outcome desk."""
