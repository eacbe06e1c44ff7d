"""Startup companies: asked for in plain words, found in a streamed loop of plan, retrieve, rerank and critique."""
