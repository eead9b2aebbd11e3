"""Blocks of chunks of a Dask collection, computed inside the task that uses them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from uuid import uuid4

import dask
from dask.core import get_dependencies
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import DataNode, GraphNode

__all__ = ["Block", "blocks_of"]


class Block:
    """One or more chunks, computed together by the task that uses them.

    If chunks were tasks of their own, Dask could move the task that uses them to another worker, and workers
    that fall behind would accumulate chunks in memory. A task that computes its chunks itself keeps none.

    Parameters
    ----------
    graph : mapping of key to GraphNode
        The tasks that only this block needs.
    keys : sequence of keys
        Keys of the chunks.
    inputs : sequence of Delayed
        Results of other tasks from which the chunks are computed.
    prepare : callable or None
        Function of the chunks that returns the first arguments of the task's function, a tuple.
    """

    def __init__(self, graph: Mapping, keys: Sequence, inputs: Sequence[Delayed], prepare: Callable | None):
        self._graph, self._keys, self._inputs, self._prepare = graph, keys, inputs, prepare

    def then(self, change: Callable) -> "Block":
        """Return the block of the same chunks whose arguments are what `change` makes of them, a tuple."""
        return Block(self._graph, self._keys, self._inputs, partial(_changed, self._prepare, change))

    def apply(self, function: Callable, *arguments) -> Delayed:
        """Return one task that computes ``function(*prepare(*chunks), *arguments)``."""
        inputs = [each.key for each in self._inputs]
        task = _Task(function, self._graph, self._keys, inputs, self._prepare)
        return dask.delayed(task, pure=False)(*self._inputs, *arguments)


def _changed(prepare: Callable | None, change: Callable, *chunks) -> tuple:
    return change(*(prepare(*chunks) if prepare else chunks))


class _Task:
    """A function of a block and arguments, as a function of the block's inputs and the same arguments."""

    def __init__(self, function: Callable, graph: Mapping, keys: Sequence, inputs: Sequence, prepare):
        self.__name__ = function.__name__  # Dask names the task after it
        self._function, self._graph, self._keys = function, graph, keys
        self._inputs, self._prepare = inputs, prepare

    def __call__(self, *values):
        n_inputs = len(self._inputs)
        inputs = zip(self._inputs, values[:n_inputs], strict=True)
        graph = {**self._graph, **{key: DataNode(key, value) for key, value in inputs}}
        chunks = dask.get(graph, self._keys)
        prepared = self._prepare(*chunks) if self._prepare else chunks
        return self._function(*prepared, *values[n_inputs:])


def blocks_of(
    chunks: Sequence[tuple[Delayed, ...]], prepare: Sequence[Callable] | None = None
) -> list[Block]:
    """Return a block for each tuple of chunks.

    Tasks that several blocks need, data held by a cluster, and tasks of a shuffle between workers, which
    Dask's scheduler has to know, are not part of a block.
    """
    keys = [[chunk.key for chunk in some] for some in chunks]
    graph: dict = {}
    for of_collection in {id(chunk.dask): chunk.dask for some in chunks for chunk in some}.values():
        graph.update(of_collection)
    owners = _owners(graph, keys)
    own: list[dict] = [{} for _ in chunks]
    others: dict = {}
    for key, owner in owners.items():
        (others if owner is None else own[owner])[key] = graph[key]
    layer = f"inputs-{uuid4().hex}"
    shared = HighLevelGraph({layer: others}, {layer: set()})
    prepared_by: Sequence = [None] * len(keys) if prepare is None else prepare
    return [
        Block(
            of_block, asked, [Delayed(key, shared, layer=layer) for key in _inputs(of_block, asked)], prepared
        )
        for of_block, asked, prepared in zip(own, keys, prepared_by, strict=True)
    ]


def _owners(graph: Mapping, keys: Sequence[Sequence]) -> dict:
    """For each key the number of the only block that needs it; None if it is not part of a block."""
    owners: dict = {}
    stack = [(key, number) for number, some in enumerate(keys) for key in some]
    while stack:
        key, user = stack.pop()
        if key in owners and owners[key] in (None, user):
            continue
        owners[key] = None if key in owners or _stays(graph, key) else user
        stack += [(each, owners[key]) for each in get_dependencies(graph, key)]
    return owners


def _stays(graph: Mapping, key) -> bool:
    """Whether the task cannot be part of a block, because Dask's scheduler has to know it."""
    node = graph[key]
    if not isinstance(node, GraphNode) or node.block_fusion:
        return True
    # A cluster holds data whose keys are not in the graph. Tasks after a barrier are tied to a worker.
    return any(each not in graph or getattr(graph[each], "block_fusion", False) for each in node.dependencies)


def _inputs(graph: Mapping, keys: Sequence) -> list:
    needed = dict.fromkeys(keys)
    for node in graph.values():
        needed.update(dict.fromkeys(node.dependencies))
    return [key for key in needed if key not in graph]
