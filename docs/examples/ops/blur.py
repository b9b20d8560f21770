"""A Gaussian filter: SciPy on the CPU, the same function of cupyx on the GPU."""

import cupyx.scipy.ndimage
import gpubench
import scipy.ndimage

blur = gpubench.Op("blur", sizes=[256, 1024, 4096])


@blur.inputs
def image(n, rng):
    return rng.random((n, n), dtype="float32")


@blur.variant("scipy")
def _(image):
    return scipy.ndimage.gaussian_filter(image, 3)


@blur.variant("cupyx")
def _(image):
    return cupyx.scipy.ndimage.gaussian_filter(image, 3)
