"""Runs the notebooks of docs/examples as Jupyter does: python -m unittest notebook. Needs nbclient and ipykernel."""

import os
import pathlib
import tempfile
import unittest

import nbclient
import nbformat
import checkout


class Notebooks(unittest.TestCase):
    def test_each_runs_and_shows_a_table_and_a_chart(self):
        # The kernel finds the package of this checkout.
        os.environ["PYTHONPATH"] = checkout.PACKAGE
        files = sorted(pathlib.Path(checkout.ROOT, "docs/examples/python").glob("*.ipynb"))
        self.assertTrue(files)
        for file in files:
            notebook = nbformat.read(file, as_version=4)
            self.assertFalse([cell for cell in notebook.cells if cell.get("outputs")], "%s has outputs: clear them" % file.name)
            with tempfile.TemporaryDirectory() as folder:
                nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
            outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
            # What is written to standard error is no output of a notebook that is quiet.
            self.assertEqual({output.output_type for output in outputs}, {"execute_result"})
            shown = [output.data for output in outputs]
            page = next(data["text/html"] for data in shown if "text/html" in data)
            self.assertIn("next takes", page)
            self.assertIn("data:image/svg+xml", page)
            self.assertTrue(any("image/png" in data for data in shown))
            self.assertTrue(any(data.get("text/plain", "").startswith("<Timing: host") for data in shown))


if __name__ == "__main__":
    unittest.main()
