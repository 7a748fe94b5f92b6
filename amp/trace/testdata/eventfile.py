"""Prints what TensorBoard reads from a folder of event files, as JSON."""
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "histograms": 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    "version": events.file_version,
    "scalars": {t: [[e.step, e.value, e.wall_time] for e in events.Scalars(t)] for t in tags["scalars"]},
    "histograms": {t: [{
        "step": e.step, "min": v.min, "max": v.max, "num": v.num, "sum": v.sum, "squares": v.sum_squares,
        "limits": list(v.bucket_limit), "counts": list(v.bucket),
    } for e in events.Histograms(t) for v in [e.histogram_value]] for t in tags["histograms"]},
}))
