"""Reserves TCP ports of 127.0.0.1, so that no other process takes a web server's port while the server restarts.

The reserving socket is bound and never listens. It sets SO_REUSEPORT. So a server that sets this option too (gunicorn
--reuse-port) can listen on the same port; every other process finds the port in use.
"""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def hold(port: int = 0) -> socket.socket | None:
    """Return a socket that reserves the port until the socket is closed; None if another process has the port.

    0 means any free port.
    """
    holder = socket.socket()
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if port and not _is_free(port):
            holder.close()
            return None
        holder.bind((HOST, port))
    except OSError:
        holder.close()
        return None
    return holder


def number(holder: socket.socket) -> int:
    """Return the port that a socket of hold() reserves."""
    return int(holder.getsockname()[1])


def _is_free(port: int) -> bool:
    """Return whether no process has the port. A port whose connections have all ended counts as free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
