import os
import stat
import tempfile
import unittest
from unittest import mock

import checkout  # noqa: F401  finds the package

from gpubench import RunError, _program, _report


class Finding(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, folder, script="exit 0"):
        folder = os.path.join(self.folder, folder)
        os.makedirs(folder)
        path = os.path.join(folder, "gpubench")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(path, stat.S_IRWXU)
        return path

    def found(self, environment):
        scripts = os.path.join(self.folder, "environment")
        with mock.patch.dict(os.environ, environment, clear=True), mock.patch("sysconfig.get_path", lambda *_: scripts):
            return _program.find()

    def test_the_environment_comes_before_the_variable_and_that_before_the_path(self):
        with self.assertRaisesRegex(RunError, "install the wheel gpubench-cli"):
            self.found({"PATH": self.folder})
        on_path = self.program("path")
        variables = {"PATH": os.path.dirname(on_path)}
        self.assertEqual(self.found(variables), on_path)
        variables["GPUBENCH"] = self.program("named")
        self.assertEqual(self.found(variables), variables["GPUBENCH"])
        own = self.program("environment")
        self.assertEqual(self.found(variables), own)
        os.remove(own)
        with self.assertRaisesRegex(RunError, "GPUBENCH names 'nowhere'"):
            self.found({**variables, "GPUBENCH": "nowhere"})

    def called(self, script):
        with mock.patch.object(_program, "find", lambda: self.program(str(len(os.listdir(self.folder))), script)):
            return _program.call(["run"])

    def test_the_exit_code_decides_and_the_last_message_is_the_error(self):
        self.assertEqual(self.called("echo text; echo 'gpubench: a note' >&2; exit 1"), (1, "text\n"))
        with self.assertRaisesRegex(RunError, "^the error in two lines$"):
            self.called("printf 'gpubench: a note\\n[1/2] a cell\\ngpubench: the error\\n  in two lines\\n' >&2; exit 2")
        with self.assertRaisesRegex(RunError, "ended with code -9"):
            self.called("kill -9 $$")
        with self.assertRaises(KeyboardInterrupt):
            self.called("exit 130")

    def test_the_folder_of_results_is_found_in_every_form(self):
        for words, folder in [
            (["--out", "a"], "a"), (["--out=a"], "a"), (["-o", "a"], "a"), (["-oa"], "a"), (["-o=a"], "a"), (["--output", "a"], None),
        ]:
            self.assertEqual(_report._option(words, "--out", "-o"), folder, words)
