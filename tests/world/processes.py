"""The processes that cases run in: one for each package on each engine, which may crash or hang."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent
HANG = 900  # seconds; no case takes a tenth of it on an idle machine


class Worker:
    """The process of a package on an engine, started when it is first asked and again after it died."""

    def __init__(self, package, engine, seed):
        self.command = [sys.executable, str(HERE / "worker.py"), package, engine, str(seed)]
        self.process = None

    def start(self):
        """Its first answer: {"operators"} or {"error"}."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.answers, self.last_words = queue.Queue(), []
        threading.Thread(target=self._read, args=(self.process, self.answers), daemon=True).start()
        threading.Thread(target=self._listen, args=(self.process.stderr, self.last_words), daemon=True).start()
        return self._answer(HANG)

    def _read(self, process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def _listen(self, stream, words):
        for line in stream:
            words.append(line.rstrip())
            del words[:-20]

    def _answer(self, limit):
        try:
            line = self.answers.get(timeout=limit)
        except queue.Empty:
            self.stop()
            return {"status": "wrong", "text": f"hangs: no result after {HANG} s"} if limit == HANG else {"status": "skipped", "text": "no time left"}
        if line is None:
            code = self.process.wait()
            self.process = None
            return {"status": "wrong", "error": f"the process ended with {code}", "text": f"the process ended with {code}: " + " | ".join(self.last_words[-3:])}
        return json.loads(line)

    def ask(self, request, limit=HANG):
        """The answer to {"operator", "case", ...}: {"status", "text", ...}."""
        if self.process is None:
            first = self.start()
            if "operators" not in first:
                return {"status": "refused", "text": first.get("error", first.get("text")), "trace": first.get("trace", "")}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer(limit)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
