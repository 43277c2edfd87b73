"""Machine code that later processes load, in files of `sourcead/files/`.

Numba's own cache unpickles its files whoever wrote them and whatever became of them.  This class stands in its place in a dispatcher.  A
file is found by a hash of all that its machine code depends on, the argument types among it; types that are spelled alike may still
differ, so the file also contains them.
"""

import hashlib
import pickle
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from sourcead.files.caches import Cache

FILES = Cache("machine-code", most=2**28)


class KeptCode(NullCache):
    """What a dispatcher calls before and after it compiles.

    Args:
        key: a string of all that the machine code depends on, except for the types of the arguments and the processor.
    """

    def __init__(self, key: str):
        self.key = key

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        name = self.name(sig, target_context.codegen())
        content = FILES.read(name)
        if content is None:
            return None
        try:
            types, parts = pickle.loads(content)
            return CompileResult._rebuild(target_context, *parts) if types == sig else None
        except Exception as error:  # it is whole, but names what is not there any more
            FILES.leave_aside(name, error)
            return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        if data.library.has_dynamic_globals or not all(lifted.can_cache for lifted in data.lifted):
            return
        try:
            content = dumps((sig, data._reduce()))
        except Exception:  # not everything can be kept
            return
        FILES.write(self.name(sig, data.codegen), content)

    def name(self, sig: Any, codegen: Any) -> str:
        return hashlib.sha256(repr((self.key, str(sig), codegen.magic_tuple())).encode()).hexdigest()
