"""Clients of one KernelManager share an identity. Which of them are served?

    handover.py KERNEL

Prints one line for each step. Every kernel should print the same lines.
"""
import os
import queue
import select
import socket
import sys
import tempfile
import threading
import time

from jupyter_client import KernelManager

PATIENCE = 60  # seconds to wait for messages that must come
ABSENCE = 1  # seconds to wait for messages that must not come

name = sys.argv[1]
GO = name != "python3"


def show(expr):
    return f"fmt.Println({expr})" if GO else f"print({expr})"


def wait(path):
    """Returns a cell that prints, and then waits until the file exists."""
    if GO:
        return f"""import ("os"; "time")
fmt.Println("on")
for _, err := os.Stat({path!r}); err != nil; _, err = os.Stat({path!r}) {{
	time.Sleep(10 * time.Millisecond)
}}""".replace("'", '"')
    return f"""import os, time
print("on", flush=True)
while not os.path.exists({path!r}):
    time.sleep(0.01)"""


ASK = 'var answer string\nfmt.Scanln(&answer)\nfmt.Println("hello", answer)' if GO else 'print("hello", input())'

km = KernelManager(kernel_name=name)
km.start_kernel(stderr=open(os.devnull, "w"))
clients = []
files = tempfile.TemporaryDirectory()


def join(**ports):
    c = km.client(**ports)
    c.session.message_count = 1000 * len(clients)  # otherwise two messages would have the same id
    c.start_channels()
    clients.append(c)
    return c


def reply(c, msg_id, timeout=PATIENCE):
    """Returns the status of the reply to msg_id, or None."""
    try:
        while True:
            m = c.get_shell_msg(timeout=timeout)
            if m["parent_header"].get("msg_id") == msg_id:
                return m["content"]["status"]
    except queue.Empty:
        return None


def run(c, code, timeout=PATIENCE):
    return reply(c, c.execute(code, allow_stdin=True), timeout)


def output(c, msg_id):
    """Returns the output of the cell that c receives."""
    text = ""
    while True:
        m = c.get_iopub_msg(timeout=PATIENCE)
        if m["parent_header"].get("msg_id") != msg_id:
            continue
        if m["msg_type"] == "stream":
            text += m["content"]["text"]
        if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
            return text


def subscribed(c):
    """Waits until c receives the messages that the kernel publishes.

    Replies can arrive on shell before the subscription of c has reached the kernel."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        run(c, show("0"))
        try:
            c.get_iopub_msg(timeout=ABSENCE)
            return
        except queue.Empty:
            continue
    raise TimeoutError("the client receives nothing on iopub")


def begun(c, msg_id):
    """Waits until the cell has printed."""
    while True:
        m = c.get_iopub_msg(timeout=PATIENCE)
        if m["parent_header"].get("msg_id") == msg_id and m["msg_type"] == "stream":
            return


def asked(c, timeout):
    try:
        return c.get_stdin_msg(timeout=timeout)["msg_type"]
    except queue.Empty:
        return None


def control(c, timeout):
    c.control_channel.send(c.session.msg("kernel_info_request"))
    try:
        return c.get_control_msg(timeout=timeout)["content"]["status"]
    except queue.Empty:
        return None


class Proxy:
    """Forwards to a port until silent is set. The connection then stays open."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = port
        self.silent = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        a = self.listener.accept()[0]
        b = socket.create_connection(("127.0.0.1", self.target))
        self.held = {a: b, b: a}
        while not self.silent.is_set():
            for s in select.select([a, b], [], [], 0.05)[0]:
                if not self.silent.is_set():
                    self.held[s].sendall(s.recv(1 << 16))


def step(what, *found):
    print(what, *found, sep=": ", flush=True)


try:
    first = join()
    first.wait_for_ready(timeout=PATIENCE)
    step("one client", run(first, show("1")))

    second = join()
    step("one identity", first.session.session == second.session.session)
    step("the second", run(second, show("2")))
    step("the first", run(first, show("1"), ABSENCE))
    third = join()
    step("the third", run(third, show("3")))
    step("the second", run(second, show("2"), ABSENCE))
    step("the first", run(first, show("1"), ABSENCE))
    step("the third again", run(third, show("3")))

    # The newest client connects before the reply to another is sent.
    end = os.path.join(files.name, "third")
    subscribed(third)
    busy = third.execute(wait(end))
    begun(third, busy)
    fourth = join()
    step("control of the fourth", control(fourth, PATIENCE))
    fourth.kernel_info()  # every front end sends this message first on shell
    open(end, "w").close()
    step("the reply to the third's cell, at the fourth", reply(fourth, busy))
    step("the fourth", run(fourth, show("4")))
    subscribed(fourth)
    step("the third", run(third, show("3"), ABSENCE))

    # stdin
    for others in ([], [third, first]):
        ask = fourth.execute(ASK, allow_stdin=True)
        step("the fourth is asked", asked(fourth, PATIENCE))
        step("the third is asked", asked(third, ABSENCE))
        for c in others:
            c.input("a displaced client")
        fourth.input("fourth")
        step("the fourth's cell", reply(fourth, ask))
        step("its output, received by the fourth", output(fourth, ask).strip())
        step("its output, received by the first", output(first, ask).strip())

    # control
    step("control, the fourth", control(fourth, PATIENCE))
    step("control, the third", control(third, ABSENCE))

    # A client whose network breaks silently.
    channels = ("shell", "iopub", "stdin", "control", "hb")
    proxies = {c + "_port": Proxy(getattr(km, c + "_port")) for c in channels}
    remote = join(**{k: p.port for k, p in proxies.items()})
    step("through the proxy", run(remote, show("5")))
    end = os.path.join(files.name, "remote")
    subscribed(remote)
    busy = remote.execute(wait(end))
    begun(remote, busy)
    for p in proxies.values():
        p.silent.set()
    back = join()
    step("control, after it reconnected", control(back, PATIENCE))
    back.kernel_info()
    open(end, "w").close()
    step("the reply to its cell, after it reconnected", reply(back, busy))
    step("its next cell", run(back, show("6")))
    subscribed(back)
    ask = back.execute(ASK, allow_stdin=True)
    step("it is asked", asked(back, PATIENCE))
    back.input("back")
    step("its cell", reply(back, ask), output(back, ask).strip())
    step("the kernel is alive", km.is_alive())
finally:
    for c in clients:
        c.stop_channels()
    km.shutdown_kernel(now=True)
