"""One step of PageRank on a sparse matrix whose columns sum to 1."""

import gpubench
import numpy as np
import scipy.sparse

DAMPING = 0.85
pagerank = gpubench.Op("pagerank-step", sizes=[10_000, 100_000])


@pagerank.inputs
def links(n, rng):
    rows, columns = rng.integers(0, n, 10 * n), rng.integers(0, n, 10 * n)
    links = scipy.sparse.csr_matrix((np.ones(10 * n), (rows, columns)), shape=(n, n))
    out = np.maximum(np.asarray(links.sum(axis=0)).reshape(-1), 1)
    return links @ scipy.sparse.diags(1 / out), np.full(n, 1 / n)


@pagerank.variant("scipy", library="scipy")
def _(links, rank):
    return DAMPING * (links @ rank) + (1 - DAMPING) / len(rank)


@pagerank.variant("cupy", library="cupy")
def _(links, rank):
    return DAMPING * (links @ rank) + (1 - DAMPING) / len(rank)
