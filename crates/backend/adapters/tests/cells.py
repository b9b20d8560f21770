"""Tries every variant of an adapter in a conversation: answers, operands, alterations and erasure."""

import numpy as np

from conversation import Conversation
from plain import DENSITY, SHAPES, SHAPE_SIZE, SIZES, TYPES, check, check_shaped, operands

# Variants that their library documents as approximate.
APPROXIMATE = [("svd", "gesvda")]
# Variants whose library takes no batch, or not every one.
WITHOUT_BATCH = [("matmul", "tf32"), ("solve", "posv"), ("solve", "scipy-pos"), ("svd", "gesvd")]


def try_every_variant(test, name, may_skip=(), **options):
    """Asserts that every variant is right at small sizes and shapes, depends on its operands, and writes all of its answer.

    Cells of the variants in `may_skip`, pairs of op and name, may be skipped: not every version or machine has them.
    """
    with Conversation(name) as adapter:
        variants = adapter.ask("describe")["variants"]
        ready = adapter.hello(**options)
        test.assertEqual(ready["type"], "ready", ready)
        for variant in variants:
            for dtype in variant["dtypes"]:
                for n in SIZES:
                    cache = "cold" if n == SIZES[-1] else "hot"
                    with test.subTest(op=variant["op"], variant=variant["name"], n=n, dtype=dtype):
                        _try(test, adapter, variant, n, dtype, cache, may_skip)
                for shape in SHAPES[variant["op"]] if variant.get("shapes") == "any" else ():
                    with test.subTest(op=variant["op"], variant=variant["name"], shape=shape, dtype=dtype):
                        _try(test, adapter, variant, SHAPE_SIZE, dtype, "hot", may_skip, shape)


def _try(test, adapter, variant, n, dtype, cache, may_skip, shape=None):
    op = variant["op"]
    density = DENSITY if op in ("spgemm", "spmv") else None
    inputs = operands(op, 42, n, TYPES[dtype], shape)
    prepared = adapter.prepare(op, variant["name"], n, dtype, cache, density=density, shape=shape)
    if prepared["type"] == "skipped" and (op, variant["name"]) in may_skip:
        return
    if prepared["type"] == "skipped" and (op, variant["name"]) in WITHOUT_BATCH and "batch" in (shape or ()):
        return test.assertIn("batch", prepared["reason"])
    test.assertEqual(prepared["type"], "answered", prepared)
    test.assertGreater(prepared["phases"]["first_s"], 0)
    approximate = (op, variant["name"]) in APPROXIMATE

    def judge(arrays):
        if shape is None:
            check(test, op, n, TYPES[dtype], inputs, arrays, approximate)
        else:
            check_shaped(test, op, n, TYPES[dtype], inputs, arrays, shape, approximate)

    judge(adapter.answer(prepared))
    alter = _alteration(op, inputs, n)
    if alter:
        altered = adapter.answer(adapter.verify(alter=alter))
        again = adapter.answer(adapter.verify(execute=True))
        test.assertTrue(_differ(altered, again), "the answer was kept from an earlier call")
    measured = adapter.measure(samples=2)
    test.assertEqual(measured["type"], "measured", measured)
    test.assertTrue(all(sample["host_s"] > 0 for sample in measured["result"]["samples"]))
    test.assertEqual(measured["result"]["setup_while_sampling"]["compilations"], 0)
    for execute in (False, True):
        verified = adapter.verify(execute=execute)
        test.assertEqual(verified["inputs"], prepared["inputs"])
        judge(adapter.answer(verified))
    test.assertEqual(adapter.ask("release", job=0)["type"], "released")


def _alteration(op, inputs, n):
    """Returns the element that gpubench alters; `None` if the operands have none."""
    if op == "spgemm":
        filled = [column for row, column in np.argwhere(inputs[0]) if inputs[1][column].any()]
        places = np.argwhere(inputs[0])[:, 1].tolist()
        return {"operand": 0, "element": places.index(filled[0]), "value": 2.0} if filled else None
    if op == "spmv":
        places = np.argwhere(inputs[0])
        return {"operand": 1, "element": int(places[0][1]), "value": 2.0} if len(places) else None
    return {"operand": 0, "element": 0, "value": n * n + 2.0}


def _differ(first, second):
    """Returns whether two answers differ."""
    return any(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(first, second))
