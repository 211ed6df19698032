"""The keyword parameters that the table of kernel functions names: function -> {parameter: the test file that passes it}."""

OWN = "test_meaning_parameters.py"


def _named(text, file=OWN):
    return dict.fromkeys(text.split(), file)


PARAMETERS = {
    "arange": _named("start end"),
    "full": _named("shape value dtype"),
    "zeros": _named("shape dtype"),
    "cat": _named("can_reorder dim"),
    "cast": _named("dtype fp_downcast_rounding bitcast"),
    "expand_dims": _named("axis"),
    "broadcast_to": _named("shape"),
    "reshape": _named("can_reorder"),
    "dot": {
        **_named("input other acc input_precision allow_tf32 max_num_imprecise_acc out_dtype"),
        **_named("trans_a trans_b", "test_meaning_ours.py"),
    },
    "dot_scaled": _named("lhs lhs_scale lhs_format rhs rhs_scale rhs_format acc fast_math lhs_k_pack rhs_k_pack out_dtype"),
    "load": _named("pointer mask other boundary_check padding_option cache_modifier eviction_policy volatile"),
    "store": _named("pointer value mask boundary_check cache_modifier eviction_policy"),
    "make_block_ptr": _named("base shape strides offsets block_shape order"),
    "advance": _named("offsets"),
    "make_tensor_descriptor": _named("base shape strides block_shape padding_option"),
    "add sub mul": _named("sanitize_overflow"),
    "fdiv": _named("ieee_rounding"),
    "maximum minimum": _named("propagate_nan"),
    "clamp": _named("min max propagate_nan"),
    "softmax": {**_named("dim keep_dims ieee_rounding"), **_named("axis", "test_meaning_ours.py")},
    "sum": _named("input axis keep_dims dtype"),
    "max min": _named("axis return_indices return_indices_tie_break_left keep_dims"),
    "argmax argmin": _named("axis tie_break_left keep_dims"),
    "reduce": _named("input axis combine_fn keep_dims"),
    "associative_scan": _named("axis combine_fn reverse"),
    "cumsum cumprod": _named("axis reverse dtype"),
    "sort": _named("dim descending"),
    "topk": _named("k dim descending"),
    "histogram": _named("num_bins mask"),
    "atomics": _named("pointer val mask sem scope"),
    "atomic_cas": _named("pointer cmp val sem scope"),
    "range": _named("num_stages loop_unroll_factor disallow_acc_multi_buffer flatten warp_specialize disable_licm"),
    "random": _named("n_rounds"),
    "device_print": _named("hex", "test_meaning_device_print.py"),
    "device_assert": _named("mask", "../test_debugging.py"),
    "inline_asm_elementwise": _named("is_pure pack", "../test_inline_code.py"),
    "map_elementwise": _named("pack", "../test_map_elementwise.py"),
    "condition": _named("disable_licm", "../test_control_flow.py"),
}
# Those that keep the values: why.
HINTS = {
    "cache_modifier, eviction_policy": "where a cache keeps the data",
    "volatile": "the access is made as often as it is written",
    "max_num_imprecise_acc, input_precision, allow_tf32": "how many bits a product may lose; none are lost on the CPU",
    "num_stages, loop_unroll_factor, disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm": "how a loop is scheduled",
    "can_reorder": "the elements may come in another order; they never do",
    "sem, scope": "how an atomic orders other accesses, and for whom",
    "approx": "how exact a quotient is",
    "fast_math": "how exact a scaled product is",
}
