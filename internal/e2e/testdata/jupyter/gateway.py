"""Runs a kernel through the distributed-provisioner of gateway_provisioners.

usage: python3 gateway.py KERNEL POLICY. The policy is that of KernelManager.transport_encryption.
Prints a line for each step. The server's log goes to standard error.
"""
import asyncio
import logging
import os
import signal
import sys
import time

from jupyter_client import AsyncKernelManager

os.environ["KERNEL_USERNAME"] = "student"  # by default it refuses root
logging.basicConfig(level=logging.DEBUG, format="[%(levelname)1.1s %(name)s] %(message)s")
for name in "asyncio", "paramiko", "traitlets":
    logging.getLogger(name).setLevel(logging.WARNING)
log = logging.getLogger("server")


async def run(client, code, started=None):
    """Runs a cell; calls started at its first output."""
    text = []

    async def output(message):
        if message["msg_type"] == "stream":
            text.append(message["content"]["text"])
            if started:
                await started()

    def hook(message):
        asyncio.ensure_future(output(message))

    reply = await client._async_execute_interactive(code, timeout=30, output_hook=hook)
    await asyncio.sleep(0.1)
    content = reply["content"]
    return f"{content['status']} {content.get('ename', '')} {''.join(text).strip()}"


async def connect(manager):
    client = manager.client()
    client.start_channels()
    await client._async_wait_for_ready(timeout=30)
    return client


async def main():
    name, policy = sys.argv[1:]
    manager = AsyncKernelManager(kernel_name=name, transport_encryption=policy, log=log)
    await manager.start_kernel(env=dict(os.environ))  # as a server does
    info = manager.get_connection_info()
    print("start:", type(manager.provisioner).__name__, "with keys" if "curve_publickey" in info else "without keys")
    client = await connect(manager)
    print("run:", await run(client, 'fmt.Println("hello")'))
    print("alive:", await manager.is_alive())

    async def interrupt():
        await manager.provisioner.send_signal(signal.SIGINT)

    print("signal:", await run(client, 'fmt.Println("looping"); for {}', interrupt))
    print("interrupt:", await run(client, 'fmt.Println("looping"); for {}', manager.interrupt_kernel))
    client.stop_channels()
    await manager.restart_kernel()
    client = await connect(manager)
    print("restart:", await run(client, 'fmt.Println("again")'))
    client.stop_channels()
    begin = time.monotonic()
    await manager.shutdown_kernel()
    print("shutdown:", "alive" if await manager.is_alive() else "ended", "by itself" if time.monotonic() - begin < 5 else "by force")


asyncio.run(main())
