"""Load test of one process: `make load` drives a real server to ten times its capacity."""
