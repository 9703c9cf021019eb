"""Stands between haft and the server: keeps every request, and may add members to it. Answers pass byte by byte.

haft makes a model call a tool in its first reply and in no other, and a model of this size calls none by itself. So the
request that haft wrote may get `tool_choice: required` on its way; what comes back is what llama.cpp streams, and goes to
haft unchanged.
"""

import json
import socket
import threading

LARGEST_PIECE = 65536


class Between:
    """Use it as `with Between(port, tool_choice="required") as between:`; `between.base_url` is where haft asks."""

    def __init__(self, server_port, **added):
        self.server_port = server_port
        self.added = added
        self.requests = []  # as haft wrote them
        self.answers = []  # the bytes that came back
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def chats(self):
        """The requests for a reply, as values."""
        return [json.loads(body) for path, body in self.requests if path.endswith("/chat/completions")]

    def streams(self):
        """The events of each streamed answer, as values, without the marks of HTTP's chunks between them."""
        for answer in self.answers:
            lines = bytes(answer).decode().splitlines()
            if events := [json.loads(line[6:]) for line in lines if line.startswith("data: {")]:
                yield events

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client):
        """One request and its answer; then the connection is closed, which haft has to take as well."""
        with client, client.makefile("rb") as reading:
            method, path, _ = reading.readline().decode().split(" ", 2)
            headers = {}
            while (line := reading.readline()) not in (b"\r\n", b""):
                name, _, value = line.decode().partition(":")
                headers[name.strip().lower()] = value.strip()
            body = reading.read(int(headers.get("content-length", 0)))
            self.requests.append((path, body))
            if method == "POST":
                body = json.dumps(json.loads(body) | self.added).encode()
            headers |= {"content-length": str(len(body)), "connection": "close"}
            head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            answer = bytearray()
            self.answers.append(answer)
            with socket.create_connection(("127.0.0.1", self.server_port)) as server:
                server.sendall(head.encode() + b"\r\n" + body)
                try:
                    while piece := server.recv(LARGEST_PIECE):
                        answer += piece
                        client.sendall(piece)
                except OSError:
                    return  # haft has gone, or the server was killed: the other side sees the same
