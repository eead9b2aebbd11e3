"""Support for the workflow's jobs: inputs, resources, logging, checksums and the command line."""
