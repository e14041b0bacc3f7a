"""What people do on a page of the mechanic: each act in its turn, and what is wrong with it is said."""

import threading
from collections.abc import Callable
from typing import Any

from linkwork.errors import LinkworkError
from linkwork.view.viewer import Viewer


class Acting(Viewer):
    """A page that takes what is entered one after the other."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._waiting, self._counting = 0, threading.Lock()  # acts that are still to be done
        super().__init__(*arguments, **options)

    @property
    def busy(self) -> bool:
        """Whether something that was entered is still to be done."""
        return self._waiting > 0

    def done(self) -> None:
        """Show what has become of the last act that was waiting."""
        raise NotImplementedError

    def watch(self, widget: Any, act: Callable[[str | None, Any], Any]) -> None:
        """Call a function with what is selected and what somebody enters into a widget, one after the other.

        Both are taken when it is entered: by the time that it is acted on the next may be there, and a page
        that is shown what was must not overwrite what is still to be done.
        """

        async def changed(event: Any) -> None:
            if event.client is not None:
                self.in_turn(act, self.selected, widget.value)

        widget.on_update(changed)

    def press(self, button: Any, act: Callable[[str | None, Any], Any]) -> None:
        """Call a function with what is selected and the word of a button that is pressed, in its turn."""

        async def pressed(event: Any) -> None:
            self.in_turn(act, self.selected, getattr(button, "value", ""))

        button.on_click(pressed)

    def in_turn(self, act: Callable[..., Any], *arguments: Any) -> None:
        """Do something after all that was entered before, outside the server's loop."""
        with self._counting:
            self._waiting += 1
        self.server.in_order(self._next, act, *arguments)

    def _next(self, act: Callable[..., None], *arguments: Any) -> None:
        try:
            act(*arguments)
        finally:
            with self._counting:
                self._waiting -= 1
            if not self._waiting:
                self.done()

    def try_edit(self, edit: Any, *arguments: Any) -> Any:
        """Do an edit; what is wrong with it is said, and nothing has changed."""
        try:
            made = edit(*arguments)
        except (LinkworkError, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError) as error:
            text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            self.show_message(text or type(error).__name__)
            return None
        self.show_message("")
        return made
