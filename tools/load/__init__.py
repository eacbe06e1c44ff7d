"""What one process takes on: `make load` drives a real server to ten times what it can carry."""
