"""Validates the objects of a YAML file with the models of Kubeflow Trainer's API, and prints what a launcher would run."""
import sys

import yaml
from kubeflow_trainer_api import models

kinds = {k: getattr(models, "TrainerV1alpha1" + k) for k in ("TrainingRuntime", "TrainJob")}


def unknown(given, model, path):
    """Returns the fields that a model does not have: it drops them silently."""
    if isinstance(given, dict) and isinstance(model, dict):
        for key, value in given.items():
            if key not in model:
                yield f"{path}.{key}"
            else:
                yield from unknown(value, model[key], f"{path}.{key}")
    elif isinstance(given, list) and isinstance(model, list):
        for i, (a, b) in enumerate(zip(given, model)):
            yield from unknown(a, b, f"{path}[{i}]")


with open(sys.argv[1]) as f:
    objects = list(yaml.safe_load_all(f))
for o in objects:
    model = kinds[o["kind"]].from_dict(o)
    lost = list(unknown(o, model.to_dict(), o["kind"]))
    if lost:
        sys.exit("unknown fields: " + ", ".join(lost))
runtime, job = objects
assert job["spec"]["runtimeRef"] == {"kind": runtime["kind"], "name": runtime["metadata"]["name"]}, job["spec"]["runtimeRef"]
policy, trainer = runtime["spec"]["mlPolicy"], job["spec"]["trainer"]
print(policy["mpi"]["mpiImplementation"], trainer["numNodes"] * trainer["numProcPerNode"], *trainer["command"])
