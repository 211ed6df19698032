"""A product with autotune and heuristics above it, and a search in a space."""

import numpy as np
import triton
import triton.language as tl


def configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=warps, num_stages=3)
        for m in (32, 64)
        for n in (32, 64)
        for warps in (4, 8)
    ]


def early_prune(configs, named_args, **kwargs):
    return [config for config in configs if config.kwargs["BLOCK_M"] <= named_args["M"] and config.num_warps]


@triton.autotune(configs=configs(), key=["M", "N", triton.bucket("K")], prune_configs_by={"early_config_prune": early_prune}, reset_to_zero=["c_ptr"])
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, EVEN_K: tl.constexpr, ACTIVATION: tl.constexpr = "",
):  # fmt: skip
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    tl.assume(pid_m >= 0)

    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_am = tl.max_contiguous(tl.multiple_of(offs_am, BLOCK_M), (BLOCK_M,))
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(c_ptr.dtype.element_ty)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


def matmul(a, b, activation=""):
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), np.float32)
    matmul_kernel[lambda META: (triton.cdiv(m, META["BLOCK_M"]) * triton.cdiv(n, META["BLOCK_N"]),)](
        a, b, c, m, n, k, k, 1, n, 1, n, 1, ACTIVATION=activation
    )
    print(matmul_kernel.best_config, matmul_kernel.best_config.kwargs["BLOCK_M"], matmul_kernel.fn.arg_names)
    for kernel in matmul_kernel.warmup(a, b, c, m, n, k, k, 1, n, 1, n, 1, ACTIVATION=activation, grid=(1,)):
        print(kernel.name)
    return c


space = triton.Space({"BLOCK": triton.powers_of_two(128, 4096), "num_warps": [1, 4]}, constraint=lambda BLOCK, **_: BLOCK > 64, budget=1.0)


@triton.autotune(search=space, key=["n"])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, offsets < n), offsets < n)


@triton.heuristics(values={"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def halve(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, offsets < n) / 2, offsets < n)


def run():
    x = np.ones(1000, np.float32)
    double[lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)](x, x.size)
    halve[(1,)](x, x.size)
