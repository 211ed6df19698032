"""Flash attention with an inner function, stages chosen by constexprs, and gradients of it."""

import triton
import triton.language as tl


@triton.jit
def _inner(acc, l_i, m_i, q, k_ptr, v_ptr, start_m, scale, STAGE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, N_CTX):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    for start_n in tl.range(lo, hi, BLOCK_N, warp_specialize=False, num_stages=2):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_ptr + (start_n + offs_n)[None, :] * D + offs_d[:, None])
        qk = tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * scale)
            qk = qk * scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + (start_n + offs_n)[:, None] * D + offs_d[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
    return acc, l_i, m_i


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, m_ptr, out_ptr, N_CTX, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    tl.static_assert(BLOCK_N <= D)
    start_m = tl.program_id(0)
    off_z, off_h = tl.program_id(1) // 4, tl.program_id(1) % 4
    offset = off_z.to(tl.int64) * N_CTX * D + off_h.to(tl.int64) * D
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    q = tl.load(q_ptr + offset + offs_m[:, None] * D + offs_d[None, :])
    if STAGE & 1:
        acc, l_i, m_i = _inner(acc, l_i, m_i, q, k_ptr + offset, v_ptr + offset, start_m, scale * 1.44269504, 4 - STAGE, BLOCK_M, BLOCK_N, D, N_CTX)
    if STAGE & 2:
        acc, l_i, m_i = _inner(acc, l_i, m_i, q, k_ptr + offset, v_ptr + offset, start_m, scale * 1.44269504, 2, BLOCK_M, BLOCK_N, D, N_CTX=N_CTX)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(m_ptr + tl.program_id(1) * N_CTX + offs_m, m_i)
    tl.store(out_ptr + offset + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))


@triton.jit
def _store_gradients(ptr, value, offs_m, offs_d, D: tl.constexpr, EVEN: tl.constexpr, N_CTX):
    if EVEN:
        tl.store(ptr + offs_m[:, None] * D + offs_d[None, :], value)
    else:
        tl.store(ptr + offs_m[:, None] * D + offs_d[None, :], value, mask=offs_m[:, None] < N_CTX)


@triton.jit
def gradients(q_ptr, k_ptr, do_ptr, dk_ptr, N_CTX, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr):
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    k = tl.load(k_ptr + offs_n[:, None] * D + offs_d[None, :])
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    step_m = BLOCK_M
    tl.static_assert(BLOCK_N % BLOCK_M == 0, "the blocks do not fit")
    curr_m = 0
    for _ in range(N_CTX // step_m):
        offs_m = curr_m + tl.arange(0, BLOCK_M)
        qT = tl.load(q_ptr + offs_m[None, :] * D + offs_d[:, None])
        pT = tl.exp2(tl.dot(k, qT))
        if MASK:
            pT = tl.where(offs_m[None, :] >= offs_n[:, None], pT, 0.0)
        do = tl.load(do_ptr + offs_m[:, None] * D + offs_d[None, :])
        dk += tl.dot((pT * tl.sum(do, 1)[None, :]).to(tl.float16), tl.trans(qT).to(tl.float16))
        curr_m += step_m
    _store_gradients(dk_ptr, dk, offs_n, offs_d, D, MASK is not None, N_CTX)
