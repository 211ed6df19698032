"""The contract of the language, clause by clause, each with the tests that show it. A test fails while one has none.

`FILE: paragraph` opens a group; each line is `clause | tests`. A test of another file is written FILE:test.
"""

TEXT = """
test_meaning_literals.py: Literals and locals
a float literal bound to a name is a run-time fp32 scalar | test_a_float_bound_to_a_name_is_a_run_time_fp32
other numbers bound to a name take the smallest type | test_other_numbers_bound_to_a_name test_integers_as_literals_and_as_locals
a literal beside a tile takes the tile's type | test_a_float_literal_takes_the_type_of_the_tile
a local annotated tl.constexpr stays constexpr | test_an_annotated_local_stays_constexpr
a literal passed to a function stays constexpr | test_a_literal_passed_to_a_function_stays_constexpr
a local passed to a function is a run-time value | test_a_local_passed_to_a_function_is_a_run_time_value
k = -7; k // 2 is -3 and -7 // 2 is -4 on every engine | test_numbers_divide_as_c_and_literals_as_python
0-d run-time values take part fully in promotion | test_scalars_promote_as_tiles_do
other annotations on locals do not cast | test_other_annotations_cast_nothing
literals in tuples, and numbers that loops carry | test_literals_inside_a_tuple test_a_number_carried_by_a_loop

test_meaning_promotion.py: Promotion
bool below integers below floats | test_a_bool_gives_way test_an_integer_gives_way_to_a_float
then by width | test_the_wider_integer_wins test_the_wider_float_wins
fp16 with bf16 gives fp16 | test_fp16_with_bf16
two different fp8 types give fp16 | test_two_fp8_types
one fp8 type stays | test_one_fp8_type
bf16 with an integer tensor gives fp32 | test_bf16_with_an_integer_tensor
bf16 with fp8 gives fp32 | test_bf16_with_fp8
fp8 with an integer tensor is an error | test_fp8_with_an_integer_tensor
same width and different sign gives unsigned | test_one_width_and_two_signs test_values_follow_the_promoted_type
every pair of types | ../test_promotion.py:test_two_tensors ../test_promotion.py:test_two_tensors_with_fp8
a number of lower or equal kind does not take part | test_a_number_of_lower_or_equal_kind_does_not_count test_a_float_beside_a_float_tensor_does_not_count
out of range it is an error | test_a_number_out_of_range
negative with unsigned it is an error | test_a_negative_number_with_unsigned
an integer of higher kind is the first of int32, uint32, int64, uint64 that holds it | test_an_integer_beside_bools
a float of higher kind is fp32 or fp64, a subnormal of fp32 is fp64 | test_a_float_beside_bools_or_integers

test_meaning_division.py: Division
/ gives fp32, also of two integers | test_integers_divide_to_fp32 test_quotients_of_narrow_floats
/ gives fp64 with fp64 | test_with_fp64_it_is_fp64
// and % of integer tensors follow C | test_integer_tensors_divide_toward_zero
// and % of constexprs follow Python | test_constexprs_divide_as_python
mixed signedness in // and % is an error | test_mixed_signedness
mixed signedness in / is an error | test_mixed_signedness_of_true_division
float // is an error | test_float_floor_division
float % is fmod | test_float_remainder_is_fmod

test_meaning_bits.py: Bits and comparisons
integers wrap | test_integers_wrap test_the_smallest_integer_divided_by_minus_one_wraps
int1 is one bit | test_int1_is_one_bit
>> is arithmetic by the left operand's own sign | test_right_shift_follows_the_sign_of_the_left test_right_shift_by_a_value_of_the_other_sign
mixed-sign compares are unsigned when the unsigned side is at least as wide | test_comparisons_of_mixed_signs
!= is true on NaN, the others false | test_comparisons_of_nan
and, or, not on tensors | test_and_or_not_of_tensors
they need int1 | test_and_or_not_need_int1
they do not short-circuit | test_and_or_of_tensors_do_not_short_circuit
on constexprs they do | test_and_or_of_constexprs_short_circuit
a < b < c works | test_chains_of_comparisons
min and max of constexprs stay constexpr | test_min_and_max_of_constexprs test_min_and_max_of_tensors
a constexpr if takes bool, int, None | test_what_a_constexpr_if_takes test_what_a_constexpr_if_does_not_take
both arms of a run-time conditional expression agree in type | test_conditional_expressions test_conditional_expressions_of_two_types
(the proofs can fail) | test_proofs_can_fail

test_meaning_casts.py: Casts
float to int truncates | test_float_to_int_truncates
to bool is != 0 | test_to_bool_asks_for_not_zero
fp8 to and from int is an error | test_fp8_and_integers
narrowing rounds to nearest even | test_narrowing_rounds_to_nearest_even test_rounding_of_every_bf16_neighbour
or toward zero with "rtz" | test_narrowing_toward_zero
widening with a rounding mode is an error | test_a_rounding_mode_when_nothing_narrows
fp8 saturates, inf to the largest, NaN kept | test_fp8_saturates
bitcast needs equal width | test_bitcast_keeps_the_bits test_bitcast_of_two_widths
pointers cast to 64-bit integers, int1 and other pointers | test_casts_of_pointers test_pointers_cast_to_nothing_else
no comparison or difference of pointers | test_no_comparison_or_difference_of_pointers
offsets count elements | test_offsets_count_elements
narrow unsigned offsets zero-extend | test_offsets_of_every_width
a cast to its own type changes nothing | test_a_cast_to_its_own_type

test_meaning_memory.py: Memory
masked-off lanes without other read 0 | test_masked_lanes_read_zero test_a_mask_all_false_touches_nothing
other without mask is an error | test_other_without_mask
the mask is int1 | test_the_mask_is_int1
load widens the pointer to the mask's shape | test_load_widens_the_pointer_to_the_mask
store never does | test_store_never_widens_the_pointer test_store_widens_the_value_and_the_mask
a scalar pointer takes scalars | test_a_scalar_pointer_takes_scalars test_a_scalar_pointer_takes_no_tiles
bools are bytes | test_bools_are_bytes
store casts to the element type | test_store_casts_to_the_element_type
other casts to the element type | test_other_is_cast_to_the_element_type test_other_as_a_tile_is_cast_too

test_meaning_reductions.py: Reductions
sum, cumsum, cumprod of floats in their own type | test_sums_of_floats
of fp16 and bf16 carried in fp32 | test_sums_of_small_floats_are_carried_in_fp32
of integers under 32 bits in int32 or uint32 | test_sums_of_integers test_sums_of_narrow_integers_do_not_wrap
(dtype= names another) | test_a_type_can_be_named
max, min, topk of types under 32 bits give fp32 or int32 | test_types_of_extremes test_types_of_extremes_of_narrow_unsigned
with indices the type is kept and the index is int32 | test_with_indices_the_type_is_kept
with indices the axis is required | test_with_indices_the_axis_is_required
NaN is ignored | test_nan_is_ignored test_a_leading_nan_is_ignored
ties by tie_break_left, the default | test_ties_go_left_by_default
sort works along the last axis | test_sort_works_along_the_last_axis test_sort_along_another_axis_is_an_error
sort leaves NaN anywhere | test_sort_keeps_nan_somewhere

test_meaning_dot.py: dot
operands of equal types | test_operands_of_equal_types test_operands_of_two_types
or any two fp8 | test_any_two_fp8_types
int8 gives int32; bf16 and fp32 give fp32 | test_operands_of_equal_types
fp16 and fp8 give out_dtype | test_out_dtype_of_fp16_and_fp8
or the accumulator's type | test_the_accumulator_s_type test_an_accumulator_of_another_type
uint8 operands are an error | test_unsigned_bytes
a bf16 result is an error | test_a_bf16_result
math functions take fp32 and fp64 | test_math_functions_take_fp32_and_fp64
and no others; the error says .to(tl.float32) | test_math_functions_refuse_other_types

test_meaning_atomics.py: Atomics
they return the old value | test_the_old_value_comes_back test_compare_and_swap
and 0 where the mask is false | test_zero_comes_back_under_a_mask
32 and 64 bits | test_bytes_are_refused test_16_bit_integers_are_refused test_bits_of_floats
fp16 and bf16 for add only | test_16_bit_floats_add test_16_bit_floats_do_nothing_else
cas also 16 bits | test_compare_and_swap
cas neither casts nor broadcasts | test_cas_neither_casts_nor_broadcasts test_cas_of_numbers
(the others do) | test_others_cast_and_broadcast_their_value

test_meaning_control_flow.py: Control flow
a dynamic if or loop gives a variable the same type on every path | test_a_variable_has_one_type_on_every_path
a name bound in both branches with one type survives | test_a_name_bound_in_both_branches_survives
one bound in a single branch is not visible after | test_a_name_bound_on_one_path_is_not_visible test_a_constexpr_branch_binds_what_it_takes
a negative step must be constexpr | test_a_negative_constexpr_step test_a_negative_literal_step test_a_run_time_step_counts_up
the index has the bounds' promoted type | test_the_index_has_the_bounds_promoted_type test_bounds_are_integers test_an_index_that_has_a_name_of_before
only static_range unrolls | test_static_range_unrolls test_nothing_else_unrolls
a 1-element tile serves as a condition | test_a_tile_of_one_element_is_a_condition test_a_tile_of_more_elements_is_no_condition
loops that run zero times | test_loops_that_run_zero_times

test_meaning_functions.py: Functions
positional, keyword and default arguments | test_positional_keyword_and_default_arguments
*args | test_star_arguments
constexpr and tuple arguments | test_constexpr_and_tuple_arguments test_a_run_time_value_for_a_constexpr_parameter
several returns | test_several_results test_early_returns
early return | test_early_returns test_a_function_that_returns_nothing
a constexpr if prunes the dead branch before type checking | test_a_constexpr_if_prunes_before_type_checking test_a_pruned_return_has_no_type

test_meaning_functions.py: Tuples
+ * == [i] [a:b] | test_operations_of_tuples
immutable | test_tuples_are_immutable
named fields by name | test_named_fields
nested as arguments | test_nested_tuples_as_arguments

test_meaning_globals.py: Globals
a global that is tl.constexpr(v) | test_constexpr_globals test_a_local_hides_a_global
None, a jit function, a module, a type, a builtin, a NamedTuple class, an aggregate | test_the_other_readable_globals
anything else is an error that says so | test_anything_else_is_an_error test_a_plain_function_of_run_time_values test_a_name_that_is_not_there
a used constexpr global that changes compiles anew | test_a_changed_global_compiles_anew

test_meaning_specialization.py: Specialization
an integer equal to 1 becomes a constexpr | test_one_becomes_a_constexpr test_two_does_not
pointers and integers divisible by 16 are marked | test_multiples_of_16_are_marked
None and functions are constexpr | test_none_and_functions_are_constexpr
bools are not specialized | test_bools_are_not_specialized
integers are i32, else i64, else u64 | test_types_of_integers test_integers_of_no_type
floats fp32 | test_floats_are_fp32
: int forces i32 with no specialization | test_an_int_annotation_forces_int32 test_annotated_widths
tuples recurse | test_tuples_recurse
do_not_specialize as named | test_do_not_specialize test_do_not_specialize_on_alignment
(arrays are pointers) | test_arrays_are_pointers_to_their_elements

test_meaning_globals.py: Cache key
source of the kernel and all it calls, line, constexpr globals | test_what_the_text_adds_to_the_key
types, constants, options | test_what_the_launch_adds_to_the_key
compiler version, target | test_the_compiler_and_the_target_are_in_the_key

test_meaning_device_print.py: device_print
one line an element | test_one_line_an_element test_the_example_of_the_contract test_two_axes test_programs
(operand 1) when several values | test_several_values_name_their_operand
idx () for scalars | test_scalars
hex 0x%08x | test_hex
in the interpreter in one piece | test_the_interpreter_prints_in_one_piece

test_meaning_types.py: Types
the names of types, and how they print | test_every_type_is_there_and_prints
predicates | test_predicates
attributes | test_attributes test_kinds_and_lists
pointer_type, block_type | test_compound_types
constexpr | test_constexprs_outside_of_kernels
const, tensor_descriptor, tuple | ../test_types.py:test_a_pointer_that_is_only_read ../test_tensor_descriptors.py:test_attributes ../test_types.py:test_questions_about_types
short names in signatures | test_short_names_in_signatures
a tensor has shape, numel, dtype, type | test_what_a_tensor_has
methods of a tensor | test_methods_of_a_tensor test_atomic_methods_of_a_pointer

test_meaning_ours.py: Ours beyond Triton
1 break, continue and return inside loops | test_1_break_continue_and_return
2 tile shapes that are not powers of two | test_2_extents_that_are_no_powers_of_two
2 dots of any M, N, K | test_2_dots_of_any_size
3 slices and scalar reads of a tile | test_3_slices_and_elements test_odd_kernels.py:test_elements_at_run_time_places
4 bf16 and fp8 correct in the interpreter, indirect loads too | test_4_small_floats_through_indirect_loads
6 every compile error shows the line with a caret | test_6_errors_show_the_line_with_a_caret
7 trans_a and trans_b in dot | test_7_transposed_operands
7 axis= in softmax | test_7_softmax_takes_axis
7 dicts from heuristics | test_7_heuristics_may_return_a_dict
7 set_interpret_mode, tl.program_id(0)[0] | test_7_interpret_mode_and_program_ids

test_meaning_parameters.py: Parameters of the kernel functions
creation and shape | test_creation test_shapes
linear algebra | test_dot test_dot_scaled test_dot_precision_is_checked
memory | test_memory test_memory_names_are_checked test_block_pointers test_descriptors
arithmetic | test_arithmetic test_softmax
reductions, scans, sorts | test_reductions_scans_and_sorts
atomics, iteration, random | test_atomics test_iteration test_random
every one is passed | test_every_parameter_is_named_here
"""


def clauses():
    """(paragraph, clause, [(file, test)]) in the contract's order."""
    file = paragraph = None
    for line in TEXT.strip().splitlines():
        if "|" not in line:
            if line:
                file, paragraph = line.split(": ", 1)
            continue
        clause, tests = line.rsplit("|", 1)
        yield paragraph, clause.strip(), [tuple(test.split(":")) if ":" in test else (file, test) for test in tests.split()]
