"""torch.compile: `backend="nacre"` beside Inductor's own code, each in a process of its own, taking turns.

    python bench/inductor.py [--device cuda] [--only TEXT ...] [--quick] [--minutes N]

Inductor's own code is C++ on the CPU, and Triton's on a GPU. Run time: the smallest of several rounds; on a GPU a round is 20 calls
and one wait. Compile time: the first call, with cold caches, of that process. Ratios are Inductor's time over ours: above 1 we are
faster. Models are shaped as their namesakes, small and with random weights; they are measured where `transformers`
is installed. A row that trains is forward and backward.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

THREADS = int(os.environ.get("OMP_NUM_THREADS", 2))
BACKENDS = ("inductor", "nacre")


def cases():
    """name -> function that makes (function, arguments, whether it trains)."""
    import torch
    import torch.nn.functional as F

    def of(function, *shapes):
        return lambda: (function, [torch.randn(*shape) for shape in shapes], False)

    def norm(kind, *shape):
        def make():
            layer = kind(shape[-1])
            return layer, [torch.randn(*shape)], False
        return make

    def batch_norm():
        layer = torch.nn.BatchNorm2d(64)
        return (lambda x: F.relu(layer(x))), [torch.randn(16, 64, 56, 56)], False

    def embedding():
        table, layer = torch.nn.Embedding(30000, 768), torch.nn.LayerNorm(768)
        return (lambda i: layer(table(i))), [torch.randint(0, 30000, (8, 512))], False

    def adamw():
        tensors = [torch.randn(1 << 20) for _ in range(4)]
        tensors[3].abs_()

        def step(p, g, m, v):
            m = m.lerp(g, 0.1)
            v = v * 0.999 + g * g * 0.001
            return p * (1 - 1e-5) - 1e-3 * m / (v.sqrt() + 1e-8), m, v
        return step, tensors, False

    def block(trains):
        def make():
            layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True, norm_first=True)
            return layer, [torch.randn(8, 128, 256)], trains
        return make

    def mlp():
        layers = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512))
        return layers, [torch.randn(256, 512)], True

    def convolution():
        layers = torch.nn.Sequential(*[part for _ in range(3) for part in (
            torch.nn.Conv2d(32, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU())])  # fmt: skip
        return layers, [torch.randn(8, 32, 56, 56)], True

    def momentum():
        def step(p, g, m):
            m = m * 0.9 + g
            return p - 1e-2 * m, m
        return step, [torch.randn(1 << 20) for _ in range(3)], False

    found = {
        "pointwise gelu(x) * y 2^22": of(lambda x, y: F.gelu(x) * y, (1 << 22,), (1 << 22,)),
        "softmax 4096x1000": of(lambda x: torch.softmax(x, -1), (4096, 1000)),
        "log softmax 4096x1000": of(lambda x: torch.log_softmax(x, -1), (4096, 1000)),
        "layer norm 4096x1024": norm(torch.nn.LayerNorm, 4096, 1024),
        "rms norm 4096x1024": norm(torch.nn.RMSNorm, 4096, 1024),
        "group norm 16x64x56x56": lambda: (torch.nn.GroupNorm(8, 64), [torch.randn(16, 64, 56, 56)], False),
        "batch norm + relu 16x64x56x56": batch_norm,
        "sum axis 0 4096x1024": of(lambda x: x.sum(0), (4096, 1024)),
        "sum axis 1 4096x1024": of(lambda x: x.sum(1), (4096, 1024)),
        "sum axis 1 64x256x256": of(lambda x: x.sum(1), (64, 256, 256)),
        "var axis 0 4096x1024": of(lambda x: x.var(0), (4096, 1024)),
        "max of all 2^22": of(lambda x: x.amax(), (1 << 22,)),
        "argmax axis 1 4096x1024": of(lambda x: x.argmax(1), (4096, 1024)),
        "x.t() + y 2048": of(lambda x, y: x.t() + y, (2048, 2048), (2048, 2048)),
        "permute 16x64x56x56 to channels last": of(lambda x: x.permute(0, 2, 3, 1).contiguous() * 2, (16, 64, 56, 56)),
        "max pool 16x64x56x56": of(lambda x: F.max_pool2d(x, 3, 2, 1), (16, 64, 56, 56)),
        "average pool 16x64x56x56": of(lambda x: F.avg_pool2d(x, 2), (16, 64, 56, 56)),
        "embedding + norm 8x512x768": embedding,
        "cumsum axis 1 4096x1024": of(lambda x: x.cumsum(1), (4096, 1024)),
        "cumsum axis 0 4096x1024": of(lambda x: x.cumsum(0), (4096, 1024)),
        "AdamW step 2^20": adamw,
        "momentum step 2^20": momentum,
        "MLP 512, training": mlp,
        "3 x conv, batch norm, relu, training": convolution,
        "transformer block 256": block(False),
        "transformer block 256, training": block(True),
    }
    found.update(models())
    return found


def models():
    """name -> maker, of every model both ways."""
    import torch

    # transformers asks whether there is a package `kernels`, and would take the bench of that name beside this file for it.
    beside = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != beside]
    try:
        import transformers
    except ImportError:
        return {}

    class Headless(torch.nn.Module):
        """The last hidden state alone: what all of them return, by the name of their input."""

        def __init__(self, model, argument):
            super().__init__()
            self.model, self.argument = model, argument

        def forward(self, value):
            return self.model(**{self.argument: value}).last_hidden_state

    def text(kind, *arguments, **settings):
        config = getattr(transformers, kind + "Config")(vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=8,
                                                        intermediate_size=1024, **settings)  # fmt: skip
        return Headless(getattr(transformers, kind + "Model")(config, *arguments), "input_ids"), torch.randint(0, 8000, (4, 128))

    def vision():
        config = transformers.ViTConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=8, intermediate_size=1024)
        return Headless(transformers.ViTModel(config, False), "pixel_values"), torch.randn(4, 3, 224, 224)

    def residual():
        config = transformers.ResNetConfig(embedding_size=32, hidden_sizes=[32, 64, 128, 256], depths=[2, 2, 2, 2], layer_type="basic")
        return Headless(transformers.ResNetModel(config), "pixel_values"), torch.randn(4, 3, 128, 128)

    makers = {
        "BERT-shaped, 4 layers": lambda: text("Bert", False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
        "Llama-shaped, 4 layers": lambda: text("Llama", num_key_value_heads=8, use_cache=False),
        "ViT-shaped, 4 layers": vision,
        "ResNet-shaped": residual,
    }

    def case(maker, trains):
        def make():
            model, value = maker()
            return model.train(trains), [value], trains
        return make

    return {name + (", training" if trains else ""): case(maker, trains) for name, maker in makers.items() for trains in (False, True)}


class Runner:
    """One case in this process."""

    def __init__(self, make, backend, device):
        import torch

        torch.manual_seed(0)
        torch.compiler.reset()
        torch.backends.cudnn.allow_tf32 = False  # or convolutions in another memory format differ by its rounding
        self.device = device
        self.calls = 1 if device == "cpu" else 20  # of a round
        with torch.device(device):  # modules that a case closes over are made there too
            self.function, self.arguments, self.trains = make()
        self.compiled = torch.compile(self.function, backend=backend)
        start = time.perf_counter()
        result = self.call(self.compiled)
        self.wait()
        self.compile_s = time.perf_counter() - start
        expected = self.call(self.function)
        for one, other in zip(result, expected):
            torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-3)

    def call(self, function):
        import torch

        if not self.trains:
            with torch.no_grad():
                result = function(*self.arguments)
            return result if isinstance(result, tuple) else (result,)
        result = function(*self.arguments)
        result.square().mean().backward()
        gradients = [parameter.grad.clone() for parameter in self.function.parameters() if parameter.grad is not None]
        self.function.zero_grad()
        return (result, *gradients)

    def smallest_ms(self, seconds):
        best, start, calls = math.inf, time.perf_counter(), 0
        while calls < 3 or time.perf_counter() - start < seconds:
            before = time.perf_counter()
            for _ in range(self.calls):
                self.call(self.compiled)
            self.wait()
            best, calls = min(best, (time.perf_counter() - before) / self.calls), calls + 1
        return best * 1e3

    def wait(self):
        import torch

        if self.device != "cpu":
            torch.accelerator.synchronize()


def serve(backend, device):
    """Answers, a line each: a case's name compiles it, a number measures it for that many seconds."""
    import torch

    torch.set_num_threads(THREADS)
    known, runner = cases(), None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if isinstance(request, str):
                runner = Runner(known[request], backend, device)
                answer = runner.compile_s
            else:
                answer = runner.smallest_ms(request)
        except Exception as error:
            answer = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        print("answer", json.dumps(answer), flush=True)


class Child:
    def __init__(self, backend, folder, device):
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/{backend}", "NACRE_CACHE_DIR": f"{folder}/{backend}-nacre",
                       "OMP_NUM_THREADS": str(THREADS), "NACRE_NUM_THREADS": str(THREADS)}  # fmt: skip
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", backend, "--device", device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)  # fmt: skip

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                return json.loads(line[7:])
        return "the process ended"


def measure(children, name, rounds, seconds):
    """backend -> (compile seconds, run milliseconds), or a text where it failed."""
    compiled = {backend: child.ask(name) for backend, child in children.items()}
    best = dict.fromkeys(children, math.inf)
    for _ in range(rounds):
        for backend, child in children.items():
            if not isinstance(compiled[backend], str):
                best[backend] = min(best[backend], child.ask(seconds))
                time.sleep(0.05)
    return {backend: compiled[backend] if isinstance(compiled[backend], str) else (compiled[backend], best[backend]) for backend in children}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[""], help="the rows whose name holds one of these")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no row after so many")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--serve", choices=BACKENDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve, options.device)
    rounds, seconds = (2, 0.2) if options.quick else (5, 0.5)
    runs, compiles = [], []
    theirs = "C++" if options.device == "cpu" else "Triton"
    print(f"| torch.compile | {theirs} ms | ours ms | ratio | {theirs} compile s | ours s | ours / {theirs} |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        children = {backend: Child(backend, folder, options.device) for backend in BACKENDS}
        names, start = cases(), time.perf_counter()
        chosen = dict.fromkeys(name for text in options.only for name in names if text in name)  # in the order asked for
        for name in chosen:
            if time.perf_counter() - start > options.minutes * 60:
                print(f"| {name} | not measured |", flush=True)
                continue
            row = measure(children, name, rounds, seconds)
            if any(isinstance(value, str) for value in row.values()):
                print(f"| {name} | " + " | ".join(f"{backend}: {value}" for backend, value in row.items() if isinstance(value, str)) + " |", flush=True)
                continue
            (their_compile, their_run), (our_compile, our_run) = (row[backend] for backend in BACKENDS)
            runs.append(their_run / our_run)
            compiles.append(our_compile / their_compile)
            print(f"| {name} | {their_run:.3f} | {our_run:.3f} | {runs[-1]:.2f} | {their_compile:.2f} | {our_compile:.2f} | {compiles[-1]:.2f} |", flush=True)
        for child in children.values():
            child.process.stdin.close()
    print(f"\n{len(runs)} rows: geometric mean of run times {geometric_mean(runs):.2f}, of compile times {geometric_mean(compiles):.2f}; {f'{THREADS} threads' if options.device == 'cpu' else 'one GPU'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
