"""The deployed stack on this machine, without AWS or a container: the output of `sam build` behind a local API Gateway."""
