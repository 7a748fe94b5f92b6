"""Checks the wheels in a folder as an index and an installer do: their metadata, and which wheel pip takes on which system.

Prints a line for each system: the name of the wheel, or "none".
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

folder, systems = pathlib.Path(sys.argv[1]), sys.argv[2:]
for path in sorted(folder.glob("*.whl")):
    name, version, _, tags = parse_wheel_filename(path.name)
    info = f"{name}-{version}.dist-info/"
    with zipfile.ZipFile(path) as archive:
        metadata = Metadata.from_email(archive.read(info + "METADATA"), validate=True)
        files = set(archive.namelist())
        wheel = archive.read(info + "WHEEL").decode().splitlines()
    assert (metadata.name, metadata.version) == (name, version), path
    assert {f"{info}licenses/{f}" for f in metadata.license_files} <= files, path
    assert {line.removeprefix("Tag: ") for line in wheel if line.startswith("Tag: ")} == set(map(str, tags)), path
for system in systems:
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", "--find-links", folder, "-d", out, "halfnote"]
        for platform in system.split(","):
            command += ["--only-binary=:all:", "--platform", platform]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0 or "No matching distribution found" in done.stderr, done.stderr
        print(system, *[f.name for f in pathlib.Path(out).iterdir()] or ["none"])
