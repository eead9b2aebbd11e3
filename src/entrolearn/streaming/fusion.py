"""Chunks that are made in the task that uses them: none waits in memory or travels to another worker."""

from collections.abc import Sequence

from dask._task_spec import Alias, GraphNode, Task, convert_legacy_graph
from dask.core import reverse_dict, toposort
from dask.delayed import Delayed
from dask.optimization import cull

__all__ = ["fused"]


def fused(result: Delayed, parts: Sequence[Delayed]) -> Delayed:
    """The same result, with what one part alone needs made in the part's own task.

    Dask moves a task to an idle worker together with the chunks that it needs, which were made for it
    elsewhere: a worker that falls behind can so come to hold many of them. Data that are there already, and
    what several parts need, stay as they are.

    Parameters
    ----------
    result : Delayed
    parts : sequence of Delayed
        On which the result depends; none of them on another.
    """
    graph, _ = cull(dict(result.__dask_graph__()), [result.key])
    graph = convert_legacy_graph(graph)
    dependencies = {key: node.dependencies & graph.keys() for key, node in graph.items()}
    dependents = reverse_dict(dependencies)
    owner = {part.key: part.key for part in parts}
    groups: dict = {part.key: [] for part in parts}
    for key in reversed(toposort(graph, dependencies=dependencies)):
        users = {owner[user] for user in dependents[key]}
        only = owner.setdefault(key, users.pop() if len(users) == 1 else None)
        if only is not None and isinstance(graph[key], Task | Alias):
            groups[only].append(key)
    for part, keys in groups.items():
        # A key that is not in the graph is one that a cluster holds already: such a part is left as it is.
        if all(graph[key].dependencies == dependencies[key] for key in keys):
            graph[part] = GraphNode.fuse(*[graph.pop(key) for key in keys])
    return Delayed(result.key, graph)
