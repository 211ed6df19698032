"""The names that a kernel may use, by group: the surface that kernels in the wild are written against."""

KERNEL_NAMES = """
program_id num_programs extra.cuda.smid extra.cuda.globaltimer extra.cuda.num_warps extra.cuda.num_threads extra.cuda.gdc_wait
extra.cuda.gdc_launch_dependents target_info.is_cuda
arange full zeros zeros_like cat cast to_tensor
broadcast broadcast_to expand_dims reshape view ravel squeeze unsqueeze permute trans join split interleave
dot dot_scaled
load store make_block_ptr advance make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor
where flip gather swizzle2d
add sub mul fdiv div_rn cdiv fma maximum minimum clamp abs umulhi PropagateNan.NONE PropagateNan.ALL
exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil sigmoid softmax math.exp math.fma
extra.libdevice.tanh extra.cuda.libdevice.atan2 extra.libdevice.pow extra.libdevice.atan2 extra.libdevice.log1p extra.libdevice.expm1
extra.libdevice.isnan extra.libdevice.isinf
sum max min argmax argmin xor_sum reduce_or reduce
associative_scan cumsum cumprod sort topk bitonic_merge histogram
atomic_add atomic_and atomic_max atomic_min atomic_or atomic_xchg atomic_xor atomic_cas atomic_load atomic_store atomic_poll
philox philox_impl randint randint4x rand rand4x randn randn4x uint_to_uniform_float pair_uniform_to_normal
range static_range condition
multiple_of max_contiguous max_constancy assume debug_barrier
static_print static_assert device_print device_assert
inline_asm_elementwise map_elementwise core.extern_elementwise
core standard random math extra core.get_int_dtype standard._log2 TRITON_MAX_TENSOR_NUMEL
void int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8e4nv float8e5 float8e4b15 float8e4b8 float8e5b16 float16 bfloat16
float32 float64 pointer_type const block_type tensor tuple constexpr tensor_descriptor dtype
""".split()
