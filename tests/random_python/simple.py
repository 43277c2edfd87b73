"""Statements without blocks, by topic."""

BASE = r"""
{t} = {num}
{t} = {arr}
{t} = {arr}
{t} = np.zeros({R1}.shape)
{t} = {A1}[{part@A1}]
{t} = {int}
{t} = {num}; {new} = {arr}
{t}, {t} = {num}, {arr}
s += {num}
s = s + {num} * {c}
s += np.sum({arr})
s -= {num}
s *= {c}
{t} = {R1}.shape[0] + {int}
{t} = {R1} * {c}
{t} = {A1}.copy()
"""

WRITE = r"""
{A1}[{part1@A1}] = {num}
{A1}[{part1@A1}] = {like@part1}
{A1}[{part1@A1}] += {num}
{A1}[{part1@A1}] += {like@part1}
{A1}[{part1@A1}] *= {num}
{A1}[{part1@A1}] -= {like@part1}
{A1}[{part1@A1}] **= 2
{A1}[{part1@A1}] /= 2 + {n} ** 2
{A1}[{mask@A1}] *= {c}
{A1}[{mask@A1}] = {num}
{A1}[{mask@A1}] += {num}
{A1} += {arr@A1}
{A1} -= {arr@A1}
{A1} *= {num}
{A1} *= {arr@A1}
{A1} /= 2
{A1} **= 2
{A1}[:] = {arr@A1}
{A1}[...] = {num}
{A1}[{at@A1}], {A1}[0] = {A1}[0] * {c}, {A1}[{at@A1}] + {c}
np.add({A1}, {arr@A1}, out={A1})
np.multiply({A1}, {num}, {A1})
np.sin({A1}, out={A1})
np.tanh({A1}, {A1})
np.subtract({arr@A1}, {A1}, out={A1})
{t} = np.add({A1}, {num}, out={A1})
np.clip({A1}, {c}, 1.3, out={A1})
np.maximum({A1}, {c}, out={A1})
np.cumsum({V1}, out={V1})
np.add({V1}[1:], {V1}[:-1], out={V1}[1:])
np.copyto({A1}, {arr@A1})
np.add.at({V1}, {pos@V1}, {num})
np.put({A1}, [0, -1], {num})
np.fill_diagonal({M1}, {num})
np.multiply({A1}, {c}, out={A1}, where={mask@A1})
{A1}.fill({num})
{A1}.sort()
{V1}[::-1] = {V1}
{V1}[1:] += {V1}[:-1]
{V1}[:] = sorted({V1})
{M1}[0], {M1}[-1] = {M1}[-1].copy(), {M1}[0].copy()
{M1}[0] += {M1}[-1]
{M1}.T[0] *= {c}
{M1}[:, 0] = {num}
{M1}[0, ...] -= {c}
{M1}[0][0] = {num}
{A1}.ravel()[0] = {num}
{A1}.flat[0] = {num}
{A1}.reshape(-1)[1:] *= {num}
np.sum({M1}, axis=0, out={M1}[0])
np.dot({V1}, {c}, {V1})
np.matmul({M1}, {M1}, out=np.empty({M1}.shape))
{A1}.T[...] = {num}
for {t} in {A1}: {t} *= {c}
"""

ALIAS = r"""
{t} = {A}
{t} = {some}
{t} = {new} = {A}
{t}, {new} = {A}, {A}
{t}, {new} = {A}, {num}
({t}, {new}), {new} = ({A}, {A}), {some}
{t} = {A} if {bool} else {A}
{t} = {A1} if {bool} else {A1}.copy()
{t} = {some} if {bool} else {some}
{t} = {L} or {A}
{t} = {bool} and {A}
{t} = {int} or {A}
{t} = None or {A}
{t} = ({new} := {A})[1:]
({new} := {A1})[0] = {num}
{t} = [{A1}, {A1}]
{t} = [{A}] * 2
{t} = [{A}, {A}] * 2
{t} = ({A}, {A})
{t} = ({A1},) * 2
{t} = {"p": {A1}, "q": {A1}}
{t} = dict(p={A}, q={A})
{t} = {L}[:]
{t} = {L}[::-1]
{t} = {L}[1:]
{t} = {L}.copy()
{t} = list({L})
{t} = tuple({L})
{t} = [*{L}, {A}]
{t} = {**{D}, "p": {A}}
{t} = copy.copy({some})
{t} = copy.deepcopy({some})
{t} = sorted({LA}, key=lambda q: np.sum(q))
{t} = max({LA}, key=np.sum)
{t} = {D}.setdefault("new", {A})
{t} = {D}.get("p", {A})
*{t}, {new} = {A}, {A}, {num}
{new}, *{t} = {L}
[{t}] = [{A}]
{t} = next(iter({LA}))
{t} = same({A})
{t} = same(q={A})
{t} = pair({A}, {A})[0]
{t} = pair(*({A}, {some}))
{t} = pair(**{"q": {A}, "p": {A}})[1]
{t} = (lambda q: q)({A})
{t} = (lambda q={A}: q)()
{t} = (lambda *q: q[0])({A}, {A})
{t} = (lambda **q: q["k"])(k={A})
{t} = {A}.T
{t} = {A}[:]
{t} = {A}[...]
{t} = {A}[::-1]
{t} = {A}[None]
{t} = {A}.ravel()
{t} = {A}.reshape(-1)
{t} = np.reshape({A1}, {A1}.shape)
{t} = np.ravel({A})
{t} = {A}.view()
{t} = np.asarray({A})
{t} = np.atleast_1d({A})
{t} = np.atleast_2d({A})
{t} = np.squeeze({A})
{t} = np.transpose({A})
{t} = np.swapaxes({M}, 0, 1)
{t} = np.expand_dims({A}, 0)
{t} = {A}.astype(float, copy=False)
{t} = np.array({A}, copy=False)
{t} = np.require({A})
{t} = np.flip({A})
{t} = np.split({V}, 1)[0]
{t} = np.rollaxis({M}, 1)
{t} = {M}[{at@M1}] if False else {M}[0]
{t}, *{new} = {M}
{t} = list({M})
{t} = [q for q in {M}]
{t} = [q for q in {LA}]
{t} = [(q, q) for q in {LA}]
{t} = {k: q for k, q in enumerate({LA})}
{t} = list(zip({LA1}, {LA}))
{t} = list(enumerate({LA}))
{t} = [{new} := {A}, {A}]
{t} = functools.reduce(lambda p, q: q, {LA})
{t}, {t} = {some}, {some}
{t} = ({A}, {num}, [{A}])
"""

LISTS = r"""
{t} = [{num}, {num}, {num}]
{t} = [{num}, {num}]
{t} = [{R1} * {c}, {arr@R1}]
{t} = []
{t} = [{item}, {item}]
{t} = ({item}, {item})
{t} = [[{num}, {num}], [{num}]]
{t} = [0.0] * {int}
{L}.append({item})
{L}.append({num})
{L}.extend([{item}, {num}])
{L}.insert(0, {item})
{L}.insert({int}, {num})
{t} = {L}.pop()
{t} = {L}.pop(0)
{L}.reverse()
{LF}.sort()
{LF}.sort(key=lambda q: -q)
{L1}[{at@L1}] = {item}
{L1}[{at@L1}] += {num}
{L1}[{at@L1}] *= {c}
{LA1}[{at@LA1}] += {num}
{LA1}[{at@LA1}] = {LA1}[{at@LA1}] * {c}
{L} += [{item}]
{L} += ({num},)
{L} *= 2
{L}[1:] = [{item}]
{L}[:0] = [{num}]
{L}[::2] = {L1}[::2]
{t} = {L} + [{item}]
{t} = {L} * 2
{t} = {L}[-1]
{t} = {L}[{int}:]
{t} = {L}[:-1]
{t} = {L}[::-1]
del {L}[0]
del {L}[1:]
{L}.remove({L1}[0])
{L}.clear()
{t} = {L1}.index({L1}[0])
{L1}[0], {L1}[-1] = {L1}[-1], {L1}[0]
{t} = list({V})
{t} = {R}.tolist()
{t} = sorted({LF})
{t} = sorted({LF}, reverse=True)
{t} = [q * {c} for q in {V}]
{t} = [q * k for k, q in enumerate({V}) if k != 1]
{t} = [p * q for p in {V} for q in {LF}]
{t} = [[p * q for q in {V}] for p in {V}]
{t} = np.array({LF})
{t} = np.stack({LA})
{t} = np.concatenate({LA})
{t} = sum({LF})
{t} = sum({LA}, {num})
{t} = len({L})
{t} = tuple(q for q in {L})
{t} = {T} + ({item},)
{t} = {T}[::-1]
{t} = {T}[0]
{t}, {new} = {T}
for {new} in {L}: pass
"""

DICTS = r"""
{t} = {"a": {item}, "b": {item}}
{t} = dict(a={num}, b={num})
{t} = {}
{t} = {k: q * {c} for k, q in enumerate({V})}
{t} = dict(zip("abc", {V}))
{t} = dict([("a", {item}), ("b", {num})])
{t} = dict({D})
{t} = dict({D}, b={item})
{t} = {"a": {"b": {item}}, "c": [{item}]}
{D1}[{key@D1}] = {item}
{D1}[{key@D1}] += {num}
{D1}[{key@D1}] *= {c}
{D}["new"] = {item}
{D} |= {"a": {item}}
{t} = {D} | {"b": {item}}
{D}.update({"a": {item}})
{D}.update(c={num})
{t} = {D1}.pop({key@D1})
{t} = {D}.pop("zz", {num})
{t} = {D}.get("a", {num})
{t} = {D}.get("zz")
{t} = {D}.setdefault("a", {item})
{D}.setdefault("m", []).append({num})
{t} = {D}.copy()
del {D1}[{key@D1}]
{t} = list({D}.values())
{t} = list({D})
{t} = {D}.popitem()[1]
{t} = sorted({D})[0]
{t} = [q for k, q in sorted({D}.items())]
{t} = {k: {D1}[k] for k in {D1}}
{t} = collections.defaultdict(float)
{t} = collections.defaultdict(list)
{t} = collections.OrderedDict(a={item}, b={item})
{t} = collections.deque([{num}, {num}], maxlen=3)
{t} = collections.deque([{item}, {num}])
{Q}.append({num})
{Q}.appendleft({num})
{t} = {Q}.popleft()
{Q}.rotate(1)
{Q}.extend([{num}, {num}])
{t} = Point({num}, {item})
{t} = Point(p={item}, q={num})
{t} = {N}._replace(p={item})
{t}, {new} = {N}
{t} = {N}._asdict()
{t} = {1, 2, {int}}
{S}.add({int})
{t} = {S} | {2, 5}
{t} = len({S})
{t} = sum({S}) * {num}
{t} = {int} in {S}
{t} = "a" in {D}
{t} = collections.ChainMap({"a": {num}}, {"b": {num}})["b"]
{t} = collections.Counter("abca")["a"] * {num}
{t} = {(0, 1): {item}, (1, 0): {num}}[1, 0]
"""

RECORDS = r"""
{t} = Cell({item})
{t} = Cell(v={num})
{t} = Node({num}, {item})
{t} = Pair({item}, {item})
{O}.v = {item}
{O}.v += {num}
{O}.v *= {c}
{O}.w = {num}
{O1}.v = {O1}.w = {item}
{t} = {O}
{t} = {O}.v
{t} = {O}.double
{t} = {O}.times({num})
{t} = {O}({num})
{t} = {O}[0]
{t} = {O}.put({item})
{t} = {O} + {num}
{t} = {O} + {O}
{t} = len({O})
{t} = sum(q for q in {O})
{t} = [q for q in {O}]
{t} = copy.copy({O})
{t} = getattr({O}, "v")
setattr({O}, "v", {item})
{t} = dataclasses.replace({O}, v={item})
{t} = [{O}, {O}]
{t} = {"p": {O}}
{O1}.put({num}).put({item})
{t} = isinstance({some}, Cell)
del {O}.v
{t} = type({O}).scale * {num}
{t} = {O} == {O}
{t} = Cell.of({num})
{t} = Cell.half({num})
"""

LAZY = r"""
{t} = (q * {n} for q in {V})
{t} = map(lambda q: q * {n}, {V})
{t} = filter(lambda q: q > {c}, {V})
{t} = reversed({L})
{t} = iter({V})
{t} = zip({V}, {V})
{new} = (q * {X1} for q in {V1})\n{V1}[-1] = {num}\n{t} = sum({new1})
{new1} = (q * {X1} for q in {V1})\n{V1}[-1] = {num}\n{t} = sum({new1})
{new1} = map(lambda q: q * {X}, {V1})\n{V1}[0] *= {c}\n{t} = list({new1})
{new1} = filter(lambda q: q > {c}, {V1})\n{V1}[0] = {c}\n{t} = sum({new1})
{new1} = reversed({L1})\n{L1}[0] = {num}\n{t} = [q for q in {new1}]
{new1} = zip({V1}, {V})\n{V1}[-1] += {num}\n{t} = sum(p * q for p, q in {new1})
{new1} = {D1}.values()\n{D1}["zz"] = {num}\n{t} = list({new1})
{new1} = {D1}.items()\n{D1}[{key@D1}] = {num}\n{t} = [q for k, q in {new1}]
{new1} = {D1}.keys()\n{D1}["zy"] = {num}\n{t} = len({new1})
{new1} = enumerate({V1})\n{V1}[0] = {num}\n{t} = sum(k * q for k, q in {new1})
{new1} = iter({V1})\n{t} = next({new1}) + 2 * next({new1}, {num})
{new1} = iter({L1})\n{new2} = next({new1})\n{L1}.append({num})\n{t} = [q for q in {new1}]
{t} = next((q for q in {V} if q > {c}), {num})
{t} = sum(itertools.islice({V}, 2))
{t} = list(itertools.chain({V}, {LF}))
{t} = sum(p * q for p, q in itertools.product({V}, {V}))
{t} = sum(p * q for p, q in itertools.combinations({V}, 2))
{t} = list(itertools.accumulate({V}))
{t} = list(itertools.accumulate({V}, lambda p, q: p * {c} + q))
{t} = list(itertools.takewhile(lambda q: q < {c}, {V}))
{t} = sum(p - q for p, q in itertools.pairwise({V}))
{t} = [p * q for p, q in itertools.zip_longest({V}, {LF}, fillvalue=0.5)]
{t} = list(itertools.starmap(lambda p, q: p * q, zip({V}, {V})))
{t} = sum(next({new1}) for _ in range(2)) if ({new1} := iter({V})) else 0.0
{t} = any(({new1} := q) > {c} for q in {V})
{t} = all(({new1} := q) < 2 for q in {V}) and {new1}
{t} = any([touch({V1}, {num}), touch({V1}, {num})])
{t} = touch({V1}, {c}) > 0 and touch({V1}, {num})
{t} = touch({V1}, {num}) or touch({V1}, {num})
{t} = {c} < touch({V1}, {num}) < touch({V1}, {c})
{t} = list(map(lambda p, q: p * q, {V}, {V}))
{t} = max(map(abs, {V}))
{t} = dict(map(lambda q: (q[0], q[1] * {c}), enumerate({V})))
{t} = [*map(lambda q: q * q, {V}), *({num},)]
{t} = list(filter(None, [{num}, 0, {num}]))
{t} = min(zip({V}, {V}))[1]
{t} = list(range({int}))[::-1]
{t} = sum(k * {num} for k in range({int}, -1, -1))
"""

ORDER = r"""
{V1}[0] += touch({V1}, {num})
{V1}[0] = touch({V1}, {num}) * {V1}[0]
{V1}[touch({V1}, {num}) > 0 and 0] += {num}
{V1}[-1] *= touch({V1}, {c}) + {V1}[-1]
{t} = {V1}[0] + touch({V1}, {num})
{t} = touch({V1}, {num}) + {V1}[0]
{t} = {V1} + touch({V1}, {num})
{t} = touch({V1}, {num}) * {V1}
{t} = [{V1}[0], touch({V1}, {num}), {V1}[0]]
{t} = ({V1}.copy(), touch({V1}, {num}), {V1})
{t} = {"a": {V1}[0], "b": touch({V1}, {num}), "c": {V1}[0]}
{t} = pair({V1}[0], touch({V1}, {num}))
{t} = pair(q=touch({V1}, {num}), p={V1}[0])
{t} = max({V1}[0], touch({V1}, {num}), {V1}[0])
s += touch({V1}, {num}) * s
{LF1}[0] += {LF1}.pop()
{LF1}.append({LF1}.pop(0))
{t} = {LF1}.pop() - {LF1}[0]
{t}, {V1}[0] = {V1}[0], {num}
{V1}[0], {t} = {num}, {V1}[0]
{t} = (touch({V1}, {num}), {V1}[0])[1]
{t} = touch({V1}, {num}) if touch({V1}, {c}) > 0 else {V1}[0]
{t} = np.where({V1} > 0, touch({V1}, {num}), {V1})
{t} = {V1} @ np.full(len({V1}), touch({V1}, {num}))
{t} = f"{touch({V1}, {num}):.1f}" == "0.0"
assert touch({V1}, {c}) is not None
{t} = {V1}[0] ** touch({V1}, {num}) ** 2 if {V1}[0] > 0 else {V1}[0]
"""

KINDS = r"""
{t} = np.float64({num})
{t} = np.array({num})
{t} = {R} > {c}
{t} = {R}.astype(int)
{t} = ({R} * 3).astype(int) * {num}
{t} = {R} * 1j
{t} = np.abs({R} * (1 + 2j)) ** 2
{t} = ({R} + 1j * {num}).real
{t} = np.arange({int})
{t} = np.arange({int}) * {num}
{t} = int({num} > 0)
{t} = float({num} > {c}) * {num}
{t} = np.zeros(0)
{t} = np.empty((0, 2))
{t} = None
{t} = "a"
{t} = True
{t} = {I} // 2
{I} += 1
{I} -= 1
{t} = {I} ** 2 % 5
{t} = divmod({I}, 2)
{t} = {I} * {num}
{t} = bool({num})
{t} = [{num}]\n{t} = np.array({t})
{new1} = {num}\n{new1} = {new1} * {R1}\n{new1} = [{new1}, {R1}]
{new1} = 0\n{new1} += {R1}\n{new1} += {num}
{new1} = {R1}\n{new1} = {new1}[0]\n{new1} = {"a": {new1}}
{t} = {R}.dtype == np.float64
{t} = {R}.sum(axis=-1)
{t} = {R}.sum(axis=0)
{t} = {R}.sum(axis=0, keepdims=True)
{t} = {R}.size * {num}
{t} = {R}.mean(0)
{t} = np.size({R})
{t} = np.shape({R})
{t} = np.argmax({V})
{t} = np.argsort({V})
{t} = {V}[np.argsort({V})]
{t} = np.nonzero({R})[0]
{t} = {V1}[{V1} > {c}]
{t} = np.sum({V1}[{V1} > {c}])
{t} = np.unique({V})
{t} = np.round({num}, 1) * {num}
{t} = np.meshgrid({V}, {V})[0]
{t} = np.linspace(0, 1, {int}) * {num}
{t} = np.eye({int}) * {num}
{t} = np.einsum("i,j->ij", {V}, {V})
{t} = np.pad({V}, 1)
{t} = np.pad({R}, 1, mode="edge")
{t} = np.outer({V}, {V})
{t} = np.delete({V}, 0)
{t} = np.array_split({V}, 2)
{t} = np.array([{num}, {num}])
{t} = np.array([[{num}, {num}], [{num}, 0]])
{t} = np.lib.stride_tricks.sliding_window_view({V}, 1)
{t} = np.convolve({V}, {V})
{t} = np.searchsorted(np.array([0.1, 0.5]), {c}) * {num}
{t} = np.ones({int})
{t} = LIMIT * {num}
{t} = TABLE[{int} % 3] * {num}
{t} = np.kron({V}, {V})
{t} = np.triu(np.outer({V1}, {V1}))
{t} = np.cross(np.array([{num}, {num}, 1.0]), np.ones(3))
{t} = np.trapezoid({V})
{t} = np.cumprod(1 + {c} * {V})
"""


def table(text):
    """Return the forms of a topic; `\\n` within a line begins a new line of the statement."""
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


TOPICS = {"base": table(BASE), "write": table(WRITE), "alias": table(ALIAS), "lists": table(LISTS), "dicts": table(DICTS),
          "records": table(RECORDS), "lazy": table(LAZY), "order": table(ORDER), "kinds": table(KINDS)}
