"""What a page says: clicks in our own HTML, as a list of words. It comes from outside: it is checked here."""

from collections.abc import Callable, Mapping
from typing import Any

Heard = Callable[..., None]  # called with the client, then the words after the first

_WORDS = 4  # of a message
_LONG = 500  # letters of a word


def listen(server: Any, handlers: Mapping[str, Heard]) -> None:
    """Call handlers by the first word of what pages say; what is no such message is dropped."""
    from viser import _messages

    def heard(client_id: int, message: Any) -> None:
        if message.uuid != "linkwork":
            return
        words = message.updates.get("do") if isinstance(message.updates, dict) else None
        if not isinstance(words, list | tuple) or not 0 < len(words) <= _WORDS:
            return
        if not all(isinstance(word, str) and len(word) <= _LONG for word in words):
            return
        handler, client = handlers.get(words[0]), server.get_clients().get(client_id)
        if handler is not None and client is not None:
            server.in_background(handler, client, *words[1:])

    server.on_message(_messages.GuiUpdateMessage, heard)
