"""Stand-ins for the services outside, speaking their real protocols."""
