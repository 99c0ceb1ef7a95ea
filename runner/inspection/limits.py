"""Defines the resource limits of the process that reads an untrusted file. child.py sets them; messages name them."""

CPU_SECONDS = 2
ADDRESS_SPACE_BYTES = 512 << 20
