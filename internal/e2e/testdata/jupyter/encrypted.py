"""Runs a cell on an encrypted kernel through a proxy that records all bytes.

usage: python3 encrypted.py KERNEL. The kernel is started with
KernelManager.transport_encryption=required. Prints what the proxy saw, and what
a client with wrong keys gets.
"""
import socket
import sys
import threading

import zmq
from jupyter_client import BlockingKernelClient, KernelManager

manager = KernelManager(kernel_name=sys.argv[1], transport_encryption="required")
manager.start_kernel()
info = manager.get_connection_info()
recorded = bytearray()


def pipe(source, sink):
    try:
        while data := source.recv(1 << 16):
            recorded.extend(data)
            sink.sendall(data)
    except OSError:  # the other direction has closed both
        pass
    sink.close()


def proxy(port):
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            left, _ = listener.accept()
            try:
                right = socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:  # the kernel is starting; the client tries again
                left.close()
                continue
            for pair in (left, right), (right, left):
                threading.Thread(target=pipe, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def run(client, timeout=30):
    client.start_channels()
    try:
        client.wait_for_ready(timeout=timeout)
        printed = []
        reply = client.execute_interactive(
            'fmt.Println("attack", "at", "dawn")', timeout=30,
            output_hook=lambda m: printed.append(m["content"].get("text", "")))
        beats = client.hb_channel.is_beating()
        return f"{reply['content']['status']} {''.join(printed).strip()}, heartbeat {beats}"
    except RuntimeError:
        return "no answer"
    finally:
        client.stop_channels()


def client(**changes):
    c = BlockingKernelClient()
    c.load_connection_info({**info, **changes})
    return c


ports = {name: proxy(info[name]) for name in info if name.endswith("_port")}
print("through the proxy:", run(client(**ports)))
public, secret = zmq.curve_keypair()
texts = [b"attack", b"execute_request", b"IDS|MSG", b"kernel_info", b"Socket-Type", b"DEALER", info["key"], info["curve_publickey"].encode(), info["curve_secretkey"].encode()]
print("bytes recorded:", len(recorded) > 5000, "texts and keys found:", [t for t in texts if t in recorded])
print("wrong keys:", run(client(curve_publickey=public, curve_secretkey=secret), timeout=1))
manager.shutdown_kernel()
