"""Records traffic.jsonl: the messages that jupyter_client sends to a kernel, one per line.

    python traffic.py KERNEL... > traffic.jsonl

KERNEL is the command of an echo kernel (package kerneltest); the connection file is
appended. Needs jupyter_client 8.
"""

import json
import sys

from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.session import Session

recorded = []
serialize = Session.serialize
channel = None


def record(self, msg, ident=None):
    frames = serialize(self, msg, ident)
    at = frames.index(b"<IDS|MSG>")
    parts = [bytes(f).decode() for f in frames[at + 2 :]]
    parts += [bytes(b).decode() for b in msg.get("buffers") or []]
    recorded.append({"channel": channel, "frames": parts})
    return frames


Session.serialize = record
m = KernelManager(session=Session(username="user"))
m._kernel_spec = KernelSpec(argv=sys.argv[1:] + ["{connection_file}"], display_name="echo", language="echo")
m.start_kernel()
c = m.client()
c.session.username = "user"
c.start_channels()


def on(name, method, *args, **kw):
    global channel
    channel = name
    return method(*args, **kw)


def send(name, msg_type, content, subshell=None, buffers=None):
    global channel
    channel = name
    msg = c.session.msg(msg_type, content)
    if subshell:
        msg["header"]["subshell_id"] = subshell
    c.session.send(getattr(c, name + "_channel").socket, msg, buffers=buffers)


on("shell", c.wait_for_ready, timeout=10)
on("shell", c.execute, "print hello\nresult 1", user_expressions={"a": "result 2", "b": "error E x"}, reply=True)
on("shell", c.execute, "error E x", silent=True, reply=True)
on("shell", c.execute, "set a \N{GREEK SMALL LETTER LAMDA}\ndisplay id text\nupdate id more\nclear wait", store_history=False, reply=True)
on("shell", c.execute_interactive, "input name:", stdin_hook=lambda _: on("stdin", c.input, "bob"), output_hook=lambda _: None)
on("shell", c.execute, "target knob\nopen slider x\npage text", stop_on_error=False, allow_stdin=False, reply=True)
on("shell", c.complete, "prin", 4, reply=True)
on("shell", c.inspect, "print x", 2, 1, reply=True)
on("shell", c.is_complete, "print \\")
on("shell", c.history, hist_access_type="tail", n=10, reply=True)
on("shell", c.history, hist_access_type="range", session=0, start=1, stop=5, output=True, reply=True)
on("shell", c.history, hist_access_type="search", pattern="p*[r]?n*", n=10, unique=True, reply=True)
on("shell", c.comm_info, "knob", reply=True)
send("shell", "comm_open", {"comm_id": "c1", "target_name": "knob", "data": {"state": {"value": 1}}})
send("shell", "comm_msg", {"comm_id": "c1", "data": {"method": "update", "text": "print"}}, buffers=[b"abc", b"defg"])
send("shell", "comm_close", {"comm_id": "c1", "data": {}})
send("shell", "connect_request", {})
send("control", "create_subshell_request", {})
subshell = c.get_control_msg(timeout=5)["content"]["subshell_id"]
send("shell", "kernel_info_request", {}, subshell)
send("shell", "execute_request", {"code": "count", "silent": False}, subshell)
send("control", "list_subshell_request", {})
send("control", "delete_subshell_request", {"subshell_id": subshell})
send("control", "usage_request", {})
for seq, (command, arguments) in enumerate(
    [
        ("initialize", {"clientID": "jupyterlab", "linesStartAt1": True, "columnsStartAt1": True, "locale": "en"}),
        ("attach", {}),
        ("debugInfo", {}),
        ("inspectVariables", {}),
        ("variables", {"variablesReference": 1, "start": 0, "count": 10}),
        ("richInspectVariables", {"variableName": "a", "frameId": 1}),
        ("dumpCell", {"code": "print x"}),
        ("disconnect", {"restart": False, "terminateDebuggee": False}),
    ]
):
    send("control", "debug_request", {"type": "request", "seq": seq, "command": command, "arguments": arguments})
send("control", "interrupt_request", {})
on("control", c.shutdown, restart=True, reply=True)
c.stop_channels()
m.shutdown_kernel(now=True)

seen = set()
for r in recorded:
    if r["channel"] is not None and (key := json.dumps([r["channel"], r["frames"][0].split('"msg_type"')[1], r["frames"][3:]])) not in seen:
        seen.add(key)
        print(json.dumps(r))
