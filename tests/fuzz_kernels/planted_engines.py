"""Engines with a bug that the fuzzer's own tests plant: NACRE_FUZZ_ENGINES names this file."""

import os
import signal
import time


def engines(engine):
    class Wrong(engine):
        """One element of the last array is off wherever the kernel sorts."""

        def launch(self, kernel, program, memory, **options):
            super().launch(kernel, program, memory, **options)
            if "tl.sort" in program.source():
                last = memory[-1].array.view("uint8")
                last[-1] ^= 3

    class Crashing(engine):
        def launch(self, kernel, program, memory, **options):
            if "tl.flip" in program.source():
                os.kill(os.getpid(), signal.SIGSEGV)
            super().launch(kernel, program, memory, **options)

    class Hanging(engine):
        def launch(self, kernel, program, memory, **options):
            if "tl.flip" in program.source():
                time.sleep(1000)
            super().launch(kernel, program, memory, **options)

    class Overrunning(engine):
        """Writes a byte before, or after, every array."""

        def launch(self, kernel, program, memory, **options):
            super().launch(kernel, program, memory, **options)
            for part in (part for guarded in memory for part in guarded.around):
                part[:1] = 0

    return {"wrong": Wrong(True), "crashing": Crashing(True), "hanging": Hanging(True), "overrunning": Overrunning(True)}
