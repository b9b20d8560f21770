#!/usr/bin/env python3
"""Programs by scikit-learn, statsmodels and scikit-image, on the CPU, or with the calls that take most time moved to a GPU by hand.

usage: programs.py NAME cpu|gpu         NAME: pca, ridge, ols or deblur

On the GPU, each call copies its arrays there and its result back. Both ways import PyTorch and start its libraries first, so that their times
differ by the calls alone. Prints the seconds from the start of the process, and a figure of the result.
"""
import os, sys, time

import numpy
import scipy.fft
import scipy.linalg
import torch


def on_gpu(array):
    return torch.from_numpy(numpy.ascontiguousarray(array)).cuda()


def svd(a, full_matrices=True, *_, **__):
    return tuple(part.cpu().numpy() for part in torch.linalg.svd(on_gpu(a), full_matrices=full_matrices, driver="gesvda"))


def product(a, b, **_):
    return (on_gpu(a) @ on_gpu(b)).cpu().numpy() if b.shape[1] > 1 else a @ b


def solve(a, b, **_):
    factor = torch.linalg.cholesky(on_gpu(a))
    b = on_gpu(b)
    return torch.cholesky_solve(b.reshape(len(b), -1), factor).reshape(b.shape).cpu().numpy()


def rfftn(x, s=None, axes=None, **_):
    return torch.fft.rfftn(on_gpu(x), s, axes).cpu().numpy()


def irfftn(x, s=None, axes=None, **_):
    return torch.fft.irfftn(on_gpu(x), s, axes).cpu().numpy()


def pca(moves, rng):
    from sklearn.decomposition import PCA

    if moves:
        scipy.linalg.svd = svd
    data = rng.standard_normal((10000, 400))
    return sum(PCA(svd_solver="full").fit(data + step).explained_variance_[0] for step in range(8))


def ridge(moves, rng):
    from sklearn.linear_model import Ridge, _ridge

    if moves:
        _ridge.safe_sparse_dot, scipy.linalg.solve = product, solve
    data, target = rng.standard_normal((10000, 2000)), rng.standard_normal(10000)
    fits = (Ridge(alpha, solver="cholesky", fit_intercept=False).fit(data, target) for alpha in range(1, 13))
    return sum(abs(fit.coef_).sum() for fit in fits)


def ols(moves, rng):
    import statsmodels.api

    if moves:
        numpy.linalg.svd = svd
    data = rng.standard_normal((100000, 60))
    return sum(statsmodels.api.OLS(data @ rng.standard_normal(60), data).fit().params[0] for _ in range(12))


def deblur(moves, rng):
    import skimage.restoration

    if moves:
        scipy.fft.rfftn, scipy.fft.irfftn = rfftn, irfftn
    spread = numpy.outer(*[numpy.hanning(65)] * 2)
    return skimage.restoration.richardson_lucy(rng.random((1500, 1500)), spread / spread.sum(), num_iter=15).sum()


def main():
    name, side = sys.argv[1:]
    started = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + float(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    small = torch.eye(64, dtype=torch.float64, device="cuda")
    torch.linalg.svd(small, driver="gesvda"), torch.linalg.cholesky(small), torch.fft.rfftn(small), torch.cuda.synchronize()
    result = {"pca": pca, "ridge": ridge, "ols": ols, "deblur": deblur}[name](side == "gpu", numpy.random.default_rng(1))
    print(name, side, round(time.time() - started, 3), result)


main()
