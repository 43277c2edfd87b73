"""A progress bar of tqdm, or one line per epoch where tqdm is not installed."""

import time


class Progress:
    """Shows the progress of an epoch with a short text, in a `with` block.

    Args:
        title: the text before the bar.
        steps: the number of steps.
        shown: whether to show anything.
    """

    def __init__(self, title: str, steps: int, shown: bool = True):
        self.title, self.start, self.text, self.bar = title, time.perf_counter(), "", None
        self.shown = shown
        if shown:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=steps, desc=title, unit="batch")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        elif self.shown:
            print(f"{self.title}: {self.text}, {time.perf_counter() - self.start:.2f} s")

    def advance(self, text: str):
        """Count one more step."""
        self.text = text
        if self.bar is not None:
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(1)

    def close(self, text: str):
        """Append a text to the last one, to be shown at the end of the epoch."""
        self.text = f"{self.text}, {text}" if text else self.text
        if self.bar is not None:
            self.bar.set_postfix_str(self.text)
