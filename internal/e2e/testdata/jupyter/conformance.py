"""Runs the Jupyter project's tests of a kernel, with samples in Go.

    conformance.py KERNEL

A skipped test counts as a failure.
"""
import sys
import unittest

import jupyter_kernel_test as suite

kernel = sys.argv.pop()


class Messages(suite.KernelTests):
    kernel_name = kernel
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'import "os"\nfmt.Fprintln(os.Stderr, "oops")'
    completion_samples = [{"text": "strings.ToUpperS", "matches": {"ToUpperSpecial"}}]
    complete_code_samples = ["x := 1", "func f() int { return 1 }", 'fmt.Println("a")']
    incomplete_code_samples = ["func f() {", "fmt.Println(", "s := `abc"]
    invalid_code_samples = ["func func 7q", "x := )"]
    code_page_something = "strings.ToUpper?"
    code_generate_error = 'panic("boom")'
    code_execute_result = [{"code": "1+2+3", "result": "6"}, {"code": "[]int{1, 4, 9}", "result": "[1 4 9]"}]
    code_display_data = [{"code": 'display.Show(display.HTML("<b>x</b>"))', "mime": "text/html"}]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "fmt.Println"
    code_clear_output = "display.Clear(false)"


class Welcome(suite.IopubWelcomeTests):
    kernel_name = kernel
    support_iopub_welcome = True


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    print(f"{result.testsRun} run, {len(result.skipped)} skipped")
    sys.exit(not result.wasSuccessful() or bool(result.skipped))
