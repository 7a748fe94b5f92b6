"""Prints what the files for containers and sites say, as their own readers understand them.

usage: python3 sites.py, in the root of the checkout
"""
import asyncio
import json
import os
import tempfile

from dockerfile_parse import DockerfileParser
from traitlets.config.loader import PyFileConfigLoader

for name in "Dockerfile", "Dockerfile.kernel":
    with open("install/containers/" + name, "rb") as f:
        d = DockerfileParser(fileobj=f)
        print(name, *d.parent_images, *(step["instruction"] for step in d.structure if step["instruction"] != "COMMENT"))

with tempfile.NamedTemporaryFile("w", delete=False) as f:
    json.dump({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
               "clusters": [{"name": "c", "cluster": {"server": "http://localhost"}}], "users": [{"name": "u", "user": {}}]}, f)
os.environ["KUBECONFIG"] = f.name
from kubespawner import KubeSpawner  # reads KUBECONFIG

config = PyFileConfigLoader("install/containers/jupyterhub_config.py").load_config()


async def choose():
    for slug in "", "halfnote", "halfnote-gpu":
        spawner = KubeSpawner(config=config, _mock=True)
        spawner.user_options = {"profile": slug} if slug else {}
        await spawner.load_user_options()
        print(f"profile {slug!r}:", spawner.image, spawner.extra_resource_limits)

asyncio.run(choose())
os.remove(f.name)

with open(".devcontainer/devcontainer.json") as f:
    print("devcontainer", sorted(json.load(f)))
