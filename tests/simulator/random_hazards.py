"""Random small kernels with and without hazards, and what is true of them by definition.

A kernel is a list of steps. In a step some threads access one word each, in a way of their own; between steps some of them
meet. Two accesses of one word by different threads race if one of them writes, one of them is plain and nothing orders them;
two plain writes of one value do not. Which pairs are ordered follows from the meetings alone.
"""

import random

HEADER = """.version 8.6
.target sm_90
.address_size 64
.file 1 "kernel.cu"
"""
KINDS = {
    "write": ("plain", True), "read": ("plain", False), "atomic": ("strong", True), "volatile write": ("strong", True),
    "volatile read": ("strong", False),
}  # fmt: skip
MEETINGS = {
    "none": None, "warp": "warp", "vote": "warp", "shuffle": "warp", "block": "block", "counted": "block", "pair": "pair", "mbarrier": "block",
}  # fmt: skip


class Program:
    def __init__(self, seed, space="shared", blocks=1):
        pick = random.Random(seed)
        self.space, self.blocks = space, blocks
        self.threads = pick.choice([32, 64, 128])
        self.words = self.threads
        self.one_value = pick.random() < 0.15  # all write the same
        # Every word is written first, in a step that all threads take.
        self.steps = [("write", list(range(self.threads)))] if space == "shared" else []
        self.meetings = ["block"] if space == "shared" else []
        kinds = ["write", "read"] if self.one_value else list(KINDS)
        for _ in range(pick.randint(2, 6)):
            self.steps.append((pick.choice(kinds), self.places(pick)))
            self.meetings.append(pick.choice(list(MEETINGS) if pick.random() < 0.7 else ["block", "warp"]))

    def places(self, pick):
        """The word of each thread, or None where it takes no part."""
        count, shift, flip, place = self.threads, pick.randrange(self.threads), 1 << pick.randrange(6), pick.randrange(self.words)
        word = pick.choice([
            lambda t: t, lambda t: t, lambda t: (t ^ flip) % count, lambda t: (t + shift) % count, lambda t: t % 32, lambda t: t // 2,
            lambda t: place, lambda t: count - 1 - t,
        ])  # fmt: skip
        limit, lane, warp = pick.randrange(1, 32), pick.randrange(32), pick.randrange(count // 32)
        takes_part = pick.choice([
            lambda t: True, lambda t: True, lambda t: t % 32 < limit, lambda t: t // 32 == warp, lambda t: t == lane, lambda t: t % 2 == 0,
            lambda t: t % 32 == lane,
        ])  # fmt: skip
        return [word(t) if takes_part(t) else None for t in range(count)]

    def ordered(self, first, second, a, b):
        """Whether the access of thread a in step `first` comes before that of thread b in step `second`."""
        for step in range(first, second):
            scope = MEETINGS[self.meetings[step]]
            if scope == "block" or (scope == "warp" and a // 32 == b // 32) or (scope == "pair" and a // 64 == b // 64):
                return True
        return False

    def races(self):
        """The pairs of steps that race."""
        found = set()
        for second, (kind_b, places_b) in enumerate(self.steps):
            for first, (kind_a, places_a) in enumerate(self.steps[: second + 1]):
                (order_a, writes_a), (order_b, writes_b) = KINDS[kind_a], KINDS[kind_b]
                if not (writes_a or writes_b) or (order_a == order_b == "strong"):
                    continue
                same_value = self.one_value and kind_a == kind_b == "write"
                by_word = {}
                for thread, word in enumerate(places_a):
                    by_word.setdefault(word, []).append(thread)
                for b, word in enumerate(places_b):
                    for a in by_word.get(word, []) if word is not None else []:
                        between_blocks = self.blocks > 1
                        if same_value or (a == b and not between_blocks):
                            continue
                        if between_blocks or not self.ordered(first, second, a, b):
                            found.add((first, second))
        return found

    def tables(self):
        """For each step and thread the word, or -1."""
        return [[-1 if word is None else word for word in places] for _, places in self.steps]

    def ptx(self):
        lines = []
        for number, (kind, _) in enumerate(self.steps):
            value = "7" if self.one_value else "%r5"
            at = "[%r6]" if self.space == "shared" else "[%rd6]"
            statement = {
                "write": f"st.{self.space}.b32 {at}, {value};",
                "read": f"ld.{self.space}.b32 %r7, {at};",
                "atomic": f"red.{self.space}.add.u32 {at}, 1;",
                "volatile write": f"st.volatile.{self.space}.b32 {at}, {value};",
                "volatile read": f"ld.volatile.{self.space}.b32 %r7, {at};",
            }[kind]
            lines.append(f"""
.loc 1 {100 + number} 1
ld.global.s32 %r4, [%rd3+{number * self.threads * 4}];
setp.ge.s32 %p1, %r4, 0; shl.b32 %r6, %r4, 2; cvt.u64.u32 %rd6, %r6; add.u64 %rd6, %rd2, %rd6; add.u32 %r6, %r2, %r6;
mad.lo.u32 %r5, %r8, 4096, %r1; add.u32 %r5, %r5, {1 + number * 256};
.loc 1 {number + 1} 1
@%p1 {statement}
.loc 1 {200 + number} 1
{self.meeting(number)}
""")
        return HEADER + f"""
.visible .entry k(.param .u64 tables, .param .u64 data)
{{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
.shared .align 16 .b8 bar[16]; .shared .align 16 .b8 words[{self.words * 4}];
ld.param.u64 %rd1, [tables]; ld.param.u64 %rd2, [data]; mov.u32 %r1, %tid.x; mov.u32 %r8, %ctaid.x; mov.u32 %r2, words; mov.u32 %r3, bar;
mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3; setp.eq.u32 %p3, %r1, 0; shr.u32 %r9, %r1, 6; add.u32 %r9, %r9, 1; mov.u32 %r10, 0;
@%p3 mbarrier.init.shared::cta.b64 [%r3], {self.threads};
bar.sync 0;
{"".join(lines)}
ret;
}}
"""

    def meeting(self, number):
        meeting = self.meetings[number] if number < len(self.meetings) else "none"
        pair = min(64, self.threads)
        return {
            "none": "", "warp": "bar.warp.sync -1;", "vote": "vote.sync.any.pred %p2, %p3, -1;", "shuffle": "shfl.sync.bfly.b32 %r11, %r1, 1, 31, -1;",
            "block": "bar.sync 0;", "counted": f"bar.sync 9, {self.threads};", "pair": f"bar.sync %r9, {pair};",
            "mbarrier": f"mbarrier.arrive.shared::cta.b64 _, [%r3];\nW{number}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r10;\n"
                        f"@!%p2 bra W{number};\nxor.b32 %r10, %r10, 1;",
        }[meeting]  # fmt: skip
