"""Stands between a client and a server of the wire protocol of PostgreSQL and notes each statement with the columns of its answer, or its error.
record.py PORT HOST:PORT FILE: listens at PORT of this machine, appends lines of JSON to FILE."""
import json
import socket
import struct
import sys
import threading

port, (host, to), file = int(sys.argv[1]), sys.argv[2].rsplit(":", 1), open(sys.argv[3], "a", buffering=1)
lock = threading.Lock()


def exactly(c, n):
    b = b""
    while len(b) < n:
        part = c.recv(n - len(b))
        if not part:
            raise EOFError
        b += part
    return b


def message(c):
    """A message with a kind: its kind, its body and its bytes."""
    head = exactly(c, 5)
    body = exactly(c, struct.unpack("!I", head[1:])[0] - 4)
    return head[:1], body, head + body


def fields(body):
    at, out = 2, []
    for _ in range(struct.unpack("!H", body[:2])[0]):
        end = body.index(b"\0", at)
        out.append([body[at:end].decode(), struct.unpack("!I", body[end + 7:end + 11])[0]])
        at = end + 19
    return out


def serve(client):
    server = socket.create_connection((host, int(to)))
    asked, answer = [], {"columns": [], "rows": 0}

    def note():
        if asked:
            with lock:
                file.write(json.dumps({"sql": asked.pop(0), **answer}) + "\n")
        answer.clear()
        answer.update(columns=[], rows=0)

    def answers():
        try:
            while True:
                kind, body, raw = message(server)
                if kind == b"T":
                    answer["columns"] = fields(body)
                elif kind == b"D":
                    answer["rows"] += 1
                elif kind == b"E":
                    parts = {p[:1]: p[1:].decode() for p in body.split(b"\0") if p}
                    answer["error"] = parts[b"C"] + " " + parts[b"M"]
                elif kind == b"Z":
                    note()
                client.sendall(raw)
        except (EOFError, OSError):
            client.close()

    try:
        while True:
            head = exactly(client, 8)
            n, code = struct.unpack("!II", head)
            if code in (80877103, 80877104):  # TLS and GSS
                client.sendall(b"N")
                continue
            server.sendall(head + exactly(client, n - 8))
            break
        threading.Thread(target=answers, daemon=True).start()
        while True:
            kind, body, raw = message(client)
            if kind == b"Q":
                asked.append(body[:-1].decode())
            elif kind == b"P":
                asked.append(body.split(b"\0")[1].decode())
            server.sendall(raw)
    except (EOFError, OSError):
        server.close()


listener = socket.create_server(("127.0.0.1", port))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
