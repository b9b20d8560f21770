"""Runs Python libraries as backends of gpubench: a worker that speaks the protocol of docs/worker-protocol.md."""
