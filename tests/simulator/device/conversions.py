"""Programs of every conversion: all inputs where they have 16 bits and less."""

import numpy as np

from programs import elementwise


def conversion_programs():
    everything = [np.arange(65536, dtype=np.uint32).astype(np.uint16)]
    # All 16-bit inputs; of 8-bit ones the upper byte of the register is seen, too.
    inputs = {"u8": [np.arange(65536, dtype=np.uint32)], "s8": [np.arange(65536, dtype=np.uint32)], "u16": everything, "s16": everything}
    integers = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
    register = lambda t: {"8": "u32", "16": "u16", "32": "u32", "64": "u64"}[t[1:]]
    for to in integers:
        width = register(to)
        for mode in ("rni", "rzi", "rmi", "rpi"):
            yield elementwise(f"cvt.{mode}.{to}.f16", f"cvt.{mode}.{to}.f16 %o, %a;", ["f16"], width, given=everything)
            yield elementwise(f"cvt.{mode}.{to}.f32", f"cvt.{mode}.{to}.f32 %o, %a;", ["f32"], width)
            yield elementwise(f"cvt.{mode}.{to}.f64", f"cvt.{mode}.{to}.f64 %o, %a;", ["f64"], width)
        yield elementwise(f"cvt.rzi.ftz.{to}.f32", f"cvt.rzi.ftz.{to}.f32 %o, %a;", ["f32"], width)
        for t in ("f16", "f32", "f64"):
            for mode in ("rn", "rz", "rm", "rp"):
                yield elementwise(f"cvt.{mode}.{t}.{to}", f"cvt.{mode}.{t}.{to} %o, %a;", [register(to)], t, given=inputs.get(to))
        for other in integers:
            if other != to:
                yield elementwise(f"cvt.{to}.{other}", f"cvt.{to}.{other} %o, %a;", [register(other)], width, given=inputs.get(other))
                fits = int(to[1:]) >= int(other[1:]) + (to[0] == "s" and other[0] == "u") and not (to[0] == "u" and other[0] == "s")
                if not fits:  # saturation is not allowed where nothing can overflow
                    yield elementwise(f"cvt.sat.{to}.{other}", f"cvt.sat.{to}.{other} %o, %a;", [register(other)], width, given=inputs.get(other))
        if to in ("u8", "s8"):  # PTX has no such conversions of bf16
            continue
        for mode in ("rni", "rzi", "rmi", "rpi"):
            yield elementwise(f"cvt.{mode}.{to}.bf16", f"cvt.{mode}.{to}.bf16 %o, %a;", ["bf16"], width, given=everything)
        for mode in ("rn", "rz", "rm", "rp"):
            yield elementwise(f"cvt.{mode}.bf16.{to}", f"cvt.{mode}.bf16.{to} %o, %a;", [register(to)], "bf16", given=inputs.get(to))
    for mode in ("rn", "rz", "rm", "rp"):
        yield elementwise(f"cvt.{mode}.f16.f32", f"cvt.{mode}.f16.f32 %o, %a;", ["f32"], "f16", count=8192)
        yield elementwise(f"cvt.{mode}.f32.f64", f"cvt.{mode}.f32.f64 %o, %a;", ["f64"], "f32", count=8192)
        yield elementwise(f"cvt.{mode}.f16.f64", f"cvt.{mode}.f16.f64 %o, %a;", ["f64"], "f16", count=8192)
        yield elementwise(f"cvt.{mode}i.f32.f32", f"cvt.{mode}i.f32.f32 %o, %a;", ["f32"], "f32")
        yield elementwise(f"cvt.{mode}i.f16.f16", f"cvt.{mode}i.f16.f16 %o, %a;", ["f16"], "f16", given=everything)
        for to, source in (("f16", "bf16"), ("bf16", "f16")):
            yield elementwise(f"cvt.{mode}.{to}.{source}", f"cvt.{mode}.{to}.{source} %o, %a;", [source], to, given=everything)
        yield elementwise(f"cvt.{mode}.bf16.f64", f"cvt.{mode}.bf16.f64 %o, %a;", ["f64"], "bf16", count=8192)
        yield elementwise(f"cvt.{mode}i.bf16.bf16", f"cvt.{mode}i.bf16.bf16 %o, %a;", ["bf16"], "bf16", given=everything)
        yield elementwise(f"cvt.{mode}i.f64.f64", f"cvt.{mode}i.f64.f64 %o, %a;", ["f64"], "f64")
    for text, source, to in (
        ("cvt.f32.f16", "f16", "f32"), ("cvt.f64.f16", "f16", "f64"), ("cvt.f32.bf16", "bf16", "f32"), ("cvt.f64.f32", "f32", "f64"),
        ("cvt.f64.bf16", "bf16", "f64"), ("cvt.sat.f32.f16", "f16", "f32"), ("cvt.sat.f16.f16", "f16", "f16"),
    ):  # fmt: skip
        given = everything if source in ("f16", "bf16") else None
        yield elementwise(text, f"{text} %o, %a;", [source], to, given=given)
    for text in ("cvt.sat.f32.f32", "cvt.ftz.f32.f32", "cvt.ftz.sat.f32.f32", "cvt.rni.ftz.f32.f32", "cvt.rna.tf32.f32", "cvt.rn.tf32.f32",
                 "cvt.rz.tf32.f32", "cvt.rn.relu.tf32.f32", "cvt.rna.satfinite.tf32.f32"):  # fmt: skip
        yield elementwise(text, f"{text} %o, %a;", ["f32"], "f32", count=8192)
    for text in ("cvt.rn.bf16.f32", "cvt.rz.bf16.f32", "cvt.rn.relu.bf16.f32", "cvt.rz.relu.bf16.f32", "cvt.rn.relu.f16.f32", "cvt.rz.f16.f32",
                 "cvt.rn.ftz.f16.f32", "cvt.rn.satfinite.f16.f32", "cvt.rn.satfinite.bf16.f32"):  # fmt: skip
        yield elementwise(text, f"{text} %o, %a;", ["f32"], "f16", count=8192)
    for text in ("cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32", "cvt.rn.relu.bf16x2.f32", "cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.relu.f16x2.f32"):
        yield elementwise(text, f"{text} %o, %a, %b;", ["f32", "f32"], "x2", count=4096)
    for t in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield elementwise(f"cvt.rn.satfinite{relu}.{t}.f32", f"cvt.rn.satfinite{relu}.{t}.f32 %o, %a, %b;", ["f32", "f32"], "f16", count=8192)
            pairs = np.arange(65536, dtype=np.uint32)
            yield elementwise(f"cvt.rn.satfinite{relu}.{t}.f16x2", f"cvt.rn.satfinite{relu}.{t}.f16x2 %o, %a;", ["x2"], "f16", given=[pairs | (pairs[::-1] << 16)])
            yield elementwise(f"cvt.rn{relu}.f16x2.{t}", f"cvt.rn{relu}.f16x2.{t} %o, %a;", ["f16"], "x2", given=everything)
