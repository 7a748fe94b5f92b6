"""nbconvert's export "Executable Script" for notebooks of Go cells: a program that prints the same."""
import os
import subprocess

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbconvert.exporters import Exporter


class GoExporter(Exporter):
    file_extension = ".go"
    output_mimetype = "text/x-go"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        manager = KernelSpecManager(parent=self)
        try:
            spec = manager.get_kernel_spec(nb.metadata.get("kernelspec", {}).get("name", "halfnote"))
        except NoSuchKernel:
            spec = manager.get_kernel_spec("halfnote")
        program = spec.argv[0].replace("{resource_dir}", spec.resource_dir)
        folder = resources["metadata"].get("path") or "."  # cells import packages relative to their notebook
        done = subprocess.run([program, "export", "-", "-"], input=nbformat.writes(nb), cwd=os.path.abspath(folder),
                              capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout, resources
