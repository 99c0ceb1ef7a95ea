"""Formats a witness as text, for terminals and files.

A witness proves a finding, that is, a fault of a library: it consists of the few calls that contradict each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.witness import Transaction, Witness


def witness_text(witness: Witness) -> str:
    """Return the witness as text: the summary, the transactions with their calls, and their order.

    The order consists of lines such as "T1 must precede T2". The sign `>` marks the calls that are part of the proof.
    """
    lines = [f"{witness.summary}.", ""]
    if witness.initial:
        lines += [
            "Records that existed before these transactions:",
            *(f"  {record}" for record in witness.initial),
            "",
        ]
    for transaction in witness.transactions:
        lines += [*_transaction_lines(transaction), ""]
    if witness.transactions_left_out:
        lines += [f"Transactions not shown: {witness.transactions_left_out}.", ""]
    for edge in witness.edges:
        source = witness.transactions[edge.source].name
        target = witness.transactions[edge.target].name
        lines.append(f"{source} must precede {target}: {edge.because}.")
    return "\n".join(lines).rstrip() + "\n"


def _transaction_lines(transaction: Transaction) -> list[str]:
    times = f"{transaction.begin_us:.2f} to {transaction.end_us:.2f} us"
    lines = [f"{transaction.name} (thread {transaction.thread}, {transaction.state}, {times})"]
    for call in transaction.calls:
        mark = ">" if call.marked else " "
        lines.append(f"  {mark} {call.end_us:10.2f} us  {call.call} = {call.answer}")
    if transaction.calls_left_out:
        count = transaction.calls_left_out
        calls = "call" if count == 1 else "calls"
        lines.append(f"    and {count} more {calls} that the finding does not depend on")
    return lines
