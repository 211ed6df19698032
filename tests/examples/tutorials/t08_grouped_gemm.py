"""Of the shape of the tutorial of grouped products: addresses of matrices in memory, descriptors that the kernel makes of them."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
ON_GPU = DEVICE.type == "cuda"


def num_sms():
    return torch.cuda.get_device_properties("cuda").multi_processor_count if ON_GPU else 4


configs = [
    triton.Config({"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": n, "BLOCK_SIZE_K": 32, "NUM_SM": sms})
    for m, n, sms in (((128, 128, 84), (64, 64, num_sms())) if ON_GPU else ((32, 32, 4),))
]


@triton.autotune(configs=configs, key=["group_size"])
@triton.jit
def grouped_matmul_kernel(
    group_a_ptrs, group_b_ptrs, group_c_ptrs, group_gemm_sizes, g_lds, group_size, NUM_SM: tl.constexpr, BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
):  # fmt: skip
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_size):
        gm = tl.load(group_gemm_sizes + g * 3)
        gn = tl.load(group_gemm_sizes + g * 3 + 1)
        gk = tl.load(group_gemm_sizes + g * 3 + 2)
        num_m_tiles = tl.cdiv(gm, BLOCK_SIZE_M)
        num_n_tiles = tl.cdiv(gn, BLOCK_SIZE_N)
        num_tiles = num_m_tiles * num_n_tiles
        while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            lda = tl.load(g_lds + g * 3)
            ldb = tl.load(g_lds + g * 3 + 1)
            ldc = tl.load(g_lds + g * 3 + 2)
            a_ptr = tl.load(group_a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(group_b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(group_c_ptrs + g).to(tl.pointer_type(tl.float16))
            tile_idx_in_gemm = tile_idx - last_problem_end
            offs_am = tile_idx_in_gemm // num_n_tiles * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
            offs_bn = tile_idx_in_gemm % num_n_tiles * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
            offs_k = tl.arange(0, BLOCK_SIZE_K)
            a_ptrs = a_ptr + offs_am[:, None] * lda + offs_k[None, :]
            b_ptrs = b_ptr + offs_k[:, None] * ldb + offs_bn[None, :]
            accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
            for kk in range(0, tl.cdiv(gk, BLOCK_SIZE_K)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                accumulator += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
                a_ptrs += BLOCK_SIZE_K
                b_ptrs += BLOCK_SIZE_K * ldb
            tl.store(c_ptr + ldc * offs_am[:, None] + offs_bn[None, :], accumulator.to(tl.float16))
            tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


@triton.autotune(configs=configs, key=["group_size"])
@triton.jit
def grouped_matmul_tma_kernel(
    group_a_ptrs, group_b_ptrs, group_c_ptrs, group_gemm_sizes, g_lds, group_size, NUM_SM: tl.constexpr, BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
):  # fmt: skip
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_size):
        gm = tl.load(group_gemm_sizes + g * 3)
        gn = tl.load(group_gemm_sizes + g * 3 + 1)
        gk = tl.load(group_gemm_sizes + g * 3 + 2)
        num_m_tiles = tl.cdiv(gm, BLOCK_SIZE_M)
        num_n_tiles = tl.cdiv(gn, BLOCK_SIZE_N)
        num_tiles = num_m_tiles * num_n_tiles
        if tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            lda = tl.load(g_lds + g * 3)
            ldb = tl.load(g_lds + g * 3 + 1)
            ldc = tl.load(g_lds + g * 3 + 2)
            a_ptr = tl.load(group_a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(group_b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(group_c_ptrs + g).to(tl.pointer_type(tl.float16))
            a_desc = tl.make_tensor_descriptor(a_ptr, shape=[gm, gk], strides=[lda, 1], block_shape=[BLOCK_SIZE_M, BLOCK_SIZE_K])
            b_desc = tl.make_tensor_descriptor(b_ptr, shape=[gn, gk], strides=[ldb, 1], block_shape=[BLOCK_SIZE_N, BLOCK_SIZE_K])
            c_desc = tl.make_tensor_descriptor(c_ptr, shape=[gm, gn], strides=[ldc, 1], block_shape=[BLOCK_SIZE_M, BLOCK_SIZE_N])
            while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
                tile_idx_in_gemm = tile_idx - last_problem_end
                offs_am = tile_idx_in_gemm // num_n_tiles * BLOCK_SIZE_M
                offs_bn = tile_idx_in_gemm % num_n_tiles * BLOCK_SIZE_N
                accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
                for kk in range(0, tl.cdiv(gk, BLOCK_SIZE_K)):
                    a = a_desc.load([offs_am, kk * BLOCK_SIZE_K])
                    b = b_desc.load([offs_bn, kk * BLOCK_SIZE_K])
                    accumulator += tl.dot(a, b.T)
                c_desc.store([offs_am, offs_bn], accumulator.to(tl.float16))
                tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


def grouped(kernel, group_A, group_B, transposed):
    A, B, C, sizes, lds, results = [], [], [], [], [], []
    for a, b in zip(group_A, group_B):
        M, K = a.shape
        N = b.shape[0] if transposed else b.shape[1]
        c = torch.empty((M, N), device=DEVICE, dtype=a.dtype)
        results.append(c)
        A.append(a.data_ptr())
        B.append(b.data_ptr())
        C.append(c.data_ptr())
        sizes += [M, N, K]
        lds += [a.stride(0), b.stride(0), c.stride(0)]
    numbers = [torch.tensor(values, device=DEVICE) for values in (A, B, C)]
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device=DEVICE, dtype=torch.int8))
    grid = lambda META: (META["NUM_SM"],)  # noqa: E731
    kernel[grid](*numbers, torch.tensor(sizes, dtype=torch.int32, device=DEVICE), torch.tensor(lds, dtype=torch.int32, device=DEVICE), len(results))
    return results


torch.manual_seed(0)
shapes = [(1024, 1024, 1024), (512, 512, 512), (256, 256, 256), (128, 128, 128)] if ON_GPU else [(64, 64, 64), (32, 64, 32)]
group_A = [torch.rand((m, k), device=DEVICE, dtype=torch.float16) - 0.5 for m, n, k in shapes]
group_B = [torch.rand((k, n), device=DEVICE, dtype=torch.float16) - 0.5 for m, n, k in shapes]
for found, a, b in zip(grouped(grouped_matmul_kernel, group_A, group_B, False), group_A, group_B):
    torch.testing.assert_close(found.float(), a.float() @ b.float(), atol=1e-2, rtol=1e-2)
transposed = [b.T.contiguous() for b in group_B]
for found, a, b in zip(grouped(grouped_matmul_tma_kernel, group_A, transposed, True), group_A, group_B):
    torch.testing.assert_close(found.float(), a.float() @ b.float(), atol=1e-2, rtol=1e-2)
