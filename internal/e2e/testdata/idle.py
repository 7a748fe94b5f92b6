"""idle.py ADDRESS TOKEN FOLDER: leaves a kernel of a server idle until the server ends it, then starts another for the same notebook.

FOLDER is the server's runtime folder, which has the connection files. Prints what the second kernel has of the first.
"""
import json
import os
import sys
import time
import urllib.request

from jupyter_client import BlockingKernelClient

address, token, folder = sys.argv[1:]


def ask(path, content=None):
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address + "api/" + path, data, {"Authorization": "token " + token, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def start():
    session = ask("sessions", {"path": "idle.ipynb", "name": "idle.ipynb", "type": "notebook", "kernel": {"name": "halfnote"}})
    kernel = session["kernel"]["id"]
    client = BlockingKernelClient(connection_file=os.path.join(folder, f"kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return kernel, client


def run(client, code):
    text = []

    def hear(message):
        if message["msg_type"] == "stream":
            text.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            sys.exit("\n".join(message["content"]["traceback"]))

    client.execute_interactive(code, output_hook=hear, timeout=60)
    return "".join(text)


first, client = start()
print("first:", run(client, 'answer := 42\nfmt.Println("the answer is", answer)').strip())
end = time.time() + 120
while first in [kernel["id"] for kernel in ask("kernels")]:
    if time.time() > end:
        sys.exit("the idle kernel is still there")
    time.sleep(0.2)
client.stop_channels()
print("its connection file is", "still there" if os.path.exists(os.path.join(folder, f"kernel-{first}.json")) else "gone")
second, client = start()
print("another kernel:", second != first)
print("second:", run(client, "%output ~1/1").strip())
