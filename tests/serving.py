"""A server in this process, for tests of who posts to one."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextmanager
def serving(answer):
    """A server whose every POST is answered by a function of its request."""

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            self.body = self.rfile.read(int(self.headers["content-length"]))
            answer(self)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
