"""The parent's side of a worker: one program at a time, each with a limit of time; a worker that ends or hangs is replaced."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS_A_WORKER = 200  # then a fresh process, so that what one leaves behind does not pile up


class Client:
    def __init__(self, engines, limit=20.0, folder=None):
        self.engines = list(engines)
        self.limit = limit
        self.folder = folder
        self.process = None
        self.served = 0
        self.sites = []

    def check(self, task, engines=None):
        """None, or {kind, engine, text}; kind is "difference", "error", "crash" or "hang". `sites` are those of planted bugs that
        were asked."""
        self.sites = []
        if self.process is None or self.served >= PROGRAMS_A_WORKER:
            self._restart()
        self.served += 1
        engine = "the compiler"
        line = json.dumps({**task, "engines": engines or self.engines}) + "\n"
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
            while True:
                answer = self._read(self.limit)
                if "begin" in answer:
                    engine = answer["begin"]
                else:
                    self.sites = answer["sites"]
                    return answer["result"]
        except TimeoutError:
            self.close(kill=True)
            return {"kind": "hang", "engine": engine, "text": f"no answer within {self.limit:g} s"}
        except (EOFError, BrokenPipeError):
            return {"kind": "crash", "engine": engine, "text": self._end_of_process()}

    def _restart(self):
        self.close()
        reader, writer = os.pipe()
        path = str(Path(__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, *filter(None, [os.environ.get("PYTHONPATH")])])}
        command = [sys.executable, "-m", "kernel_fuzzer.worker", str(writer), *([self.folder] if self.folder else [])]
        self.errors = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        pass_fds=(writer,), env=environment)  # fmt: skip
        os.close(writer)
        os.set_blocking(self.process.stderr.fileno(), False)
        self.channel = reader
        self.buffer = b""
        self.served = 0
        self.said = b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(reader, selectors.EVENT_READ)
        self.selector.register(self.process.stderr, selectors.EVENT_READ)
        try:
            self._read(120)
        except EOFError:
            raise RuntimeError("the worker does not start: " + self._end_of_process()) from None

    def _read(self, limit):
        """The next line of the worker."""
        end = time.monotonic() + limit
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            ready = self.selector.select(max(left, 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if key.fd == self.channel:
                    part = os.read(self.channel, 1 << 16)
                    if not part:
                        raise EOFError
                    self.buffer += part
                else:
                    said = os.read(key.fd, 1 << 16)
                    if not said:
                        self.selector.unregister(self.process.stderr)
                    self.said = (self.said + said)[-4000:]
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def _end_of_process(self):
        status = self.process.wait()
        said = (self.said + (self.process.stderr.buffer.raw.read() or b"")).decode(errors="replace").strip()[-1500:]
        self.close()
        how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return f"{how}{': ' + said if said else ''}"

    def close(self, kill=False):
        if self.process is None:
            return
        if kill:
            self.process.kill()
        self.process.stdin.close()
        self.selector.close()
        self.process.stderr.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.channel)
        self.process = None
