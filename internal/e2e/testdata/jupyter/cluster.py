"""Runs gateway.py on a stand-in for a cluster: a Docker engine, a Kubernetes API or a YARN resource manager.

usage: python3 cluster.py docker|kubernetes|yarn PROGRAM KERNEL POLICY

The stand-ins answer the requests that the provisioners and launchers of gateway_provisioners send through the libraries docker,
kubernetes and yarn-api-client. A container is a process of the program, with the environment of the request.
"""
import http.server
import json
import os
import runpy
import stat
import subprocess
import sys
import tempfile
import threading
import urllib.parse

kind, program = sys.argv[1], sys.argv[2]
sys.argv = [sys.argv[0], *sys.argv[3:]]
folder = tempfile.mkdtemp(prefix="cluster-")
jobs = {}  # by name: containers, pods or applications


class Job:
    def __init__(self, name, command, env, **facts):
        self.name, self.facts, self.killed = name, facts, False
        self.process = subprocess.Popen(command, env=env, start_new_session=True, stdout=sys.stderr)

    def running(self):
        return self.process.poll() is None

    def kill(self):
        self.killed = True
        self.process.kill()
        self.process.wait()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, form, *args):
        print("cluster:", form % args, file=sys.stderr)

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        status, reply = globals()[kind](self.command, url.path, query, body)
        text = json.dumps(reply).encode() if reply is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "hadoop.auth=user")  # which yarn-api-client expects
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = answer


def docker(method, path, query, body):
    """Answers as the Docker engine does: https://docs.docker.com/reference/api/engine/version/v1.45"""
    words = path.strip("/").split("/")
    if words[0].startswith("v1."):
        words = words[1:]

    def describe(job):
        return {"Id": job.name, "Name": "/" + job.name, "Image": job.facts["Image"], "State": {"Status": "running" if job.running() else "exited"},
                "Config": {"Labels": job.facts["Labels"], "Image": job.facts["Image"]}, "NetworkSettings": {"Networks": {"bridge": {"IPAddress": "127.0.0.1"}}}}

    if words == ["version"]:
        return 200, {"ApiVersion": "1.45", "MinAPIVersion": "1.24", "Version": "27"}
    if words == ["containers", "create"]:
        assert body["Image"] == "halfnote:test" and body["HostConfig"]["NetworkMode"] == "bridge", body
        env = dict(v.split("=", 1) for v in body["Env"])
        assert "PATH" not in env
        jobs[query["name"]] = Job(query["name"], [program, "kernel"], env, Image=body["Image"], Labels=body["Labels"])
        return 201, {"Id": query["name"], "Warnings": []}
    if words == ["containers", "json"]:
        label, = json.loads(query["filters"])["label"]
        name, value = label.split("=")
        return 200, [{"Id": job.name} for job in jobs.values() if job.facts["Labels"][name] == value and job.running()]
    if words[0] == "containers" and words[1] in jobs:
        job = jobs[words[1]]
        if method == "DELETE":
            job.kill()
            del jobs[words[1]]
            return 204, None
        return (204, None) if words[2:] == ["start"] else (200, describe(job))
    return 404, {"message": "not found: " + path}


def kubernetes_api(method, path, query, body):
    """Answers as the API of Kubernetes does for pods."""
    if not path.startswith("/api/v1/namespaces/default/pods"):
        return 404, {"kind": "Status", "reason": "NotFound", "message": path}

    def describe(job):
        return {**job.facts["pod"], "status": {"phase": "Running" if job.running() else "Succeeded", "podIP": "127.0.0.1", "hostIP": "127.0.0.1"}}

    if method == "POST":
        container, = body["spec"]["containers"]
        assert container["image"] == "halfnote:test", container
        env = {item["name"]: item["value"] for item in container["env"]}
        jobs[body["metadata"]["name"]] = Job(body["metadata"]["name"], [program, "kernel"], env, pod=body)
        return 201, describe(jobs[body["metadata"]["name"]])
    if method == "GET":
        wanted = dict(item.split("=") for item in query["labelSelector"].split(","))
        items = [describe(job) for job in jobs.values() if wanted.items() <= job.facts["pod"]["metadata"]["labels"].items()]
        return 200, {"kind": "PodList", "apiVersion": "v1", "items": items}
    job = jobs.pop(path.rsplit("/", 1)[1])
    pod = describe(job)
    job.kill()
    return 200, {**pod, "status": {"phase": "Succeeded"}}


def yarn(method, path, query, body):
    """Answers as YARN's resource manager does, and starts what the stand-in for spark-submit hands in."""
    words = path.removeprefix("/ws/v1/cluster").strip("/").split("/")

    def describe(job):
        state = "RUNNING" if job.running() else "KILLED" if job.killed else "FINISHED"
        return {"id": job.facts["id"], "name": job.name, "state": state, "amHostHttpAddress": "localhost:8042"}

    if path == "/cluster":  # the page by which yarn-api-client finds an active manager
        return 200, {}
    if words == ["submit"]:
        args = body["args"]
        script = next(i for i, arg in enumerate(args) if arg.endswith(".py"))
        name = args[args.index("--name") + 1]
        number = f"application_1_{len(jobs):04}"
        jobs[number] = Job(name, [sys.executable, *args[script:]], {**os.environ, "PYTHONPATH": folder}, id=number)
        return 200, None
    if words == ["apps"]:
        return 200, {"apps": {"app": [describe(job) for job in jobs.values()]}}
    if words[0] == "apps" and words[1] in jobs:
        job = jobs[words[1]]
        if method == "PUT":
            assert body == {"state": "KILLED"}, body
            subprocess.run(["pkill", "-KILL", "-s", str(job.process.pid)])
            job.kill()
        app = describe(job)
        return 200, {"state": app["state"]} if words[2:] == ["state"] else {"app": app}
    return 404, {"RemoteException": {"message": path}}


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"127.0.0.1:{server.server_address[1]}"
if kind == "docker":
    os.environ["DOCKER_HOST"] = "tcp://" + address
elif kind == "kubernetes":
    kind = "kubernetes_api"
    config = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
              "clusters": [{"name": "c", "cluster": {"server": "http://" + address}}], "users": [{"name": "u", "user": {}}]}
    with open(os.path.join(folder, "config"), "w") as f:
        json.dump(config, f)
    os.environ.update(KUBECONFIG=f.name, GP_USE_INCLUSTER_CONFIG="False")
else:
    os.environ.update(GP_YARN_ENDPOINT="http://" + address, PATH=folder + os.pathsep + os.environ["PATH"])
    with open(os.path.join(folder, "pyspark.py"), "w") as f:
        f.write("class SparkContext:\n    @staticmethod\n    def getOrCreate():\n        return SparkContext()\n")
    with open(os.path.join(folder, "spark-submit"), "w") as f:
        f.write(f"#!{sys.executable}\nimport json, sys, urllib.request\nrequest = urllib.request.Request('http://{address}/ws/v1/cluster/submit',\n"
                "    data=json.dumps({'args': sys.argv[1:]}).encode(), headers={'Content-Type': 'application/json'})\nurllib.request.urlopen(request)\n")
    os.chmod(f.name, stat.S_IRWXU)

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gateway.py"), run_name="__main__")
left = [job.name for job in jobs.values() if job.running()]
print("left:", len(left))
