"""Checks a guarded ROUTER that echoes and a guarded PUB with libzmq as their peer.

usage: python3 pyzmq.py ROUTER PUB [PUBLIC SECRET], both as ZeroMQ addresses. The
ROUTER answers the message "publish" after a message with the topic "t" was
published. With keys of CURVE in Z85 all connections are encrypted.
Prints a line for each failure and exits with 1; prints nothing on success.
"""
import sys
import time

import zmq
from zmq.utils.monitor import recv_monitor_message

router, pub = sys.argv[1:3]
keys = [key.encode() for key in sys.argv[3:]]
context = zmq.Context()
failed = False


def check(what, got, want):
    global failed
    if got != want:
        failed = True
        print(f"{what}: got {got!r}, want {want!r}")


def connect(kind, address, own=None, **options):
    s = context.socket(kind)
    s.linger, s.rcvtimeo, s.sndtimeo = 0, 8000, 8000
    for name, value in options.items():
        setattr(s, name, value)
    if own or keys:
        s.curve_publickey, s.curve_secretkey = own or keys
        s.curve_serverkey = keys[0]
    if kind == zmq.SUB:
        s.subscribe(b"")
    s.connect(address)
    return s


def ask(s, *frames):
    s.send_multipart(frames)
    try:
        return s.recv_multipart()
    except zmq.Again:
        return None


def disconnects(monitor):
    n = 0
    while monitor.poll(0):
        n += recv_monitor_message(monitor)["event"] == zmq.EVENT_DISCONNECTED
    return n


def heartbeats():
    d = connect(zmq.DEALER, router, heartbeat_ivl=50, heartbeat_timeout=1000)
    s = connect(zmq.SUB, pub, heartbeat_ivl=50, heartbeat_timeout=1000)
    watched = [d.get_monitor_socket(), s.get_monitor_socket()]
    s.recv_multipart()
    for i in range(10):
        check("a DEALER with heartbeats asks", ask(d, b"%d" % i), [b"%d" % i])
        time.sleep(0.15)
    check("disconnects of idle peers with heartbeats", [disconnects(w) for w in watched], [0, 0])
    for peer in d, s:  # otherwise libzmq waits for an unread monitor at its end
        peer.disable_monitor()
        peer.close()


def welcome():
    d = connect(zmq.DEALER, router)
    for i in range(50):
        s = connect(zmq.SUB, pub)
        check("a subscriber's first message", s.recv_multipart(), [b"", b"welcome"])
        ask(d, b"publish")
        check("its next message", s.recv_multipart()[0], b"t")
        s.close()


def identity():
    first = connect(zmq.DEALER, router, identity=b"same", rcvtimeo=8000)
    check("the first of an identity asks", ask(first, b"first"), [b"first"])
    second = connect(zmq.DEALER, router, identity=b"same", rcvtimeo=8000)
    check("the second takes over", ask(second, b"second"), [b"second"])
    first.rcvtimeo = 300
    check("the first gets", ask(first, b"again"), None)
    first.close()
    check("the second still asks", ask(second, b"still"), [b"still"])


def large():
    d = connect(zmq.DEALER, router)
    body = bytes(range(256)) * 40_000
    got = ask(d, b"", body)
    check("an echo of ten megabytes is the same", got == [b"", body], True)


def refused(what, event, options):
    s = context.socket(zmq.DEALER)
    s.linger, s.rcvtimeo = 0, 300
    monitor = s.get_monitor_socket()
    for name, value in options.items():
        setattr(s, name, value)
    s.connect(router)
    check(what + " asks", ask(s, b"x"), None)
    events = []
    while monitor.poll(0):
        events.append(recv_monitor_message(monitor)["event"])
    check(f"{what}: {event!r} among {events}", event in events, True)
    s.disable_monitor()
    s.close()


def other_keys():
    if not keys:
        return
    other = zmq.curve_keypair()
    wrong = dict(curve_publickey=keys[0], curve_secretkey=keys[1], curve_serverkey=other[0])
    refused("a client with another server's key", zmq.EVENT_DISCONNECTED, wrong)
    refused("a client without keys", zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, {})
    # jupyter_client's heartbeat makes its keys
    d = connect(zmq.DEALER, router, own=other)
    check("a client with new keys asks", ask(d, b"x"), [b"x"])


for f in heartbeats, welcome, identity, large, other_keys:
    f()
context.destroy(linger=0)
sys.exit(failed)
