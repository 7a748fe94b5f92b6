"""Runs a cell through a Jupyter server's websocket, as a browser does, and prints its result."""
import json, sys, urllib.request, uuid, websocket
base, token, code = sys.argv[1:]
request = urllib.request.Request(base + "api/kernels", data=json.dumps({"name": "halfnote"}).encode(),
    headers={"Authorization": "token " + token, "Content-Type": "application/json"})
kernel = json.load(urllib.request.urlopen(request, timeout=30))
ws = websocket.create_connection(base.replace("http", "ws", 1) + "api/kernels/" + kernel["id"] + "/channels?token=" + token, timeout=30)
message = {"header": {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex, "date": "", "version": "5.3"},
    "parent_header": {}, "metadata": {}, "channel": "shell", "buffers": [],
    "content": {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}}
ws.send(json.dumps(message))
while True:
    got = json.loads(ws.recv())
    if got["parent_header"].get("msg_id") != message["header"]["msg_id"]:
        continue
    if got["msg_type"] == "execute_result":
        print(got["content"]["data"]["text/plain"])
    if got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
        break
