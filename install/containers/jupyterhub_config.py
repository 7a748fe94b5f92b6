# Profiles of a JupyterHub on Kubernetes: the image of the Dockerfile next to this file, without and with a GPU.
c = get_config()  # noqa: F821

c.KubeSpawner.profile_list = [
    {
        "slug": "halfnote",
        "display_name": "Go with mixed precision",
        "description": "JupyterLab with the kernel Go (halfnote) and its tutorials",
        "default": True,
        "kubespawner_override": {"image": "halfnote"},
    },
    {
        "slug": "halfnote-gpu",
        "display_name": "Go with mixed precision on a GPU",
        "kubespawner_override": {"image": "halfnote", "extra_resource_limits": {"nvidia.com/gpu": "1"}},
    },
]
