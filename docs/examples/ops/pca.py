"""The first ten principal components of n samples with 50 features, by the eigenvalues of the covariance."""

import cupy as cp
import gpubench
import numpy as np
import sklearn.decomposition

pca = gpubench.Op("pca", sizes=[1000, 10000, 100000], tolerance=1e-3)


@pca.inputs
def samples(n, rng):
    return rng.standard_normal((n, 50)) * np.linspace(1, 10, 50)


def explained(xp, x):
    centred = x - x.mean(axis=0)
    return xp.linalg.eigvalsh(centred.T @ centred / (len(x) - 1))[-10:]


@pca.variant("numpy")
def _(x):
    return explained(np, x)


@pca.variant("scikit-learn")
def _(x):
    return sklearn.decomposition.PCA(10).fit(x).explained_variance_[::-1]


@pca.variant("cupy")
def _(x):
    return explained(cp, x)
