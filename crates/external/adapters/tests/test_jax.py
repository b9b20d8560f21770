import importlib.util
import unittest

from cells import try_every_variant
from conversation import Conversation
from gpubench_adapter.registry import ADAPTERS


@unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_every_variant_is_right_and_writes_its_answer(self):
        algorithms = [("svd", "qr")]
        try_every_variant(self, "jax-cpu", may_skip=algorithms, threads=2)

    def test_every_variant_has_code(self):
        from gpubench_adapter.jax_backend import JaxOps

        variants = {(variant["op"], variant["name"]) for variant in ADAPTERS["jax"].variants}
        self.assertEqual(variants, set(JaxOps.JOBS))

    def test_without_an_accelerator_the_reply_says_so(self):
        import jax

        if jax.devices()[0].platform != "cpu":
            self.skipTest("JAX has an accelerator here")
        with Conversation("jax") as adapter:
            reply = adapter.hello()
            self.assertEqual((reply["type"], reply["fix"]), ("unavailable", ADAPTERS["jax"].install))


if __name__ == "__main__":
    unittest.main()
