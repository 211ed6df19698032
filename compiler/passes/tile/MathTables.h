// The polynomials and constants of the elementary functions, exact in the precision they are for. Polynomials have
// their lowest coefficient first; constants are sums of numbers, the largest first.
//
// Written by polynomials.py. The errors are those of the approximation, before any rounding of the evaluation.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace nacre::elementary::tables {

struct Table {
  llvm::ArrayRef<double> f32 = {}, f64 = {};
};

// ln 2; the high part times an exponent is exact
inline constexpr double logOfTwoF32[] = {
    0x1.62e400p-1,
    0x1.7f7d1cp-20,
};
inline constexpr double logOfTwoF64[] = {
    0x1.62e42fefa3800p-1,
    0x1.ef35793c76730p-45,
};
inline constexpr Table logOfTwo = {.f32 = logOfTwoF32, .f64 = logOfTwoF64};

// log10 2; the high part times an exponent is exact
inline constexpr double decimalLogOfTwoF32[] = {
    0x1.344200p-2,
    -0x1.95ec10p-19,
};
inline constexpr double decimalLogOfTwoF64[] = {
    0x1.34413509f7800p-2,
    0x1.fef311f12b358p-46,
};
inline constexpr Table decimalLogOfTwo = {.f32 = decimalLogOfTwoF32, .f64 = decimalLogOfTwoF64};

// log2 e
inline constexpr double binaryLogOfEF32[] = {
    0x1.715476p+0,
    0x1.4ae0c0p-26,
};
inline constexpr double binaryLogOfEF64[] = {
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d24p-56,
};
inline constexpr Table binaryLogOfE = {.f32 = binaryLogOfEF32, .f64 = binaryLogOfEF64};

// log10 e
inline constexpr double decimalLogOfEF32[] = {
    0x1.bcb7b2p-2,
    -0x1.5b235ep-27,
};
inline constexpr double decimalLogOfEF64[] = {
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57,
};
inline constexpr Table decimalLogOfE = {.f32 = decimalLogOfEF32, .f64 = decimalLogOfEF64};

// 1/3
inline constexpr double thirdF32[] = {
    0x1.555556p-2,
    -0x1.555556p-27,
};
inline constexpr double thirdF64[] = {
    0x1.5555555555555p-2,
    0x1.5555555555555p-56,
};
inline constexpr Table third = {.f32 = thirdF32, .f64 = thirdF64};

// pi / 2
inline constexpr double halfPiF32[] = {
    0x1.921fb6p+0,
    -0x1.777a5cp-25,
    -0x1.ee59dap-50,
};
inline constexpr double halfPiF64[] = {
    0x1.921fb54442d18p+0,
    0x1.1a62633145c07p-54,
    -0x1.f1976b7ed8fbcp-110,
};
inline constexpr Table halfPi = {.f32 = halfPiF32, .f64 = halfPiF64};

// 2 / pi
inline constexpr double twoOverPiF32[] = {
    0x1.45f306p-1,
};
inline constexpr double twoOverPiF64[] = {
    0x1.45f306dc9c883p-1,
};
inline constexpr Table twoOverPi = {.f32 = twoOverPiF32, .f64 = twoOverPiF64};

// The binary digits of 2/pi after the point, behind one word of zeros.
inline constexpr uint32_t twoOverPiWords32[] = {
    0x0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
};
inline constexpr uint64_t twoOverPiWords64[] = {
    0x0u,
    0xa2f9836e4e441529u,
    0xfc2757d1f534ddc0u,
    0xdb6295993c439041u,
    0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u,
    0x6492eea09d1921cu,
    0xfe1deb1cb129a73eu,
    0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u,
    0x3991d639835339f4u,
    0x9c845f8bbdf9283bu,
    0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu,
    0x6d367ecf27cb09b7u,
    0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau,
    0x6bfb5fb11f8d5d08u,
    0x56033046fc7b6babu,
};

// exp(r) = 1 + r + r^2 P(r)
// error 2^-28.2 on [-0.34727, 0.34727]
inline constexpr double exponentialF32[] = {
    0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558bcp-5, 0x1.1239c4p-7, 0x1.6a4156p-10,
};
// error 2^-57.9 on [-0.34727, 0.34727]
inline constexpr double exponentialF64[] = {
    0x1.000000000000ap-1,  0x1.5555555555503p-3,  0x1.55555555506e1p-5,  0x1.11111111262a2p-7,  0x1.6c16c18474f68p-10,
    0x1.a01a0130c38c7p-13, 0x1.a019994df8ac2p-16, 0x1.71df19a3cd979p-19, 0x1.28ae20fd97cfep-22, 0x1.ad8f9ab91926cp-26,
};
inline constexpr Table exponential = {.f32 = exponentialF32, .f64 = exponentialF64};

// 2^r = 1 + r P(r)
// error 2^-28.3 on [-0.501, 0.501]
inline constexpr double binaryExponentialF32[] = {
    0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7ap-5, 0x1.3b2de0p-7, 0x1.5f09a4p-10, 0x1.416d20p-13,
};
// error 2^-57.7 on [-0.501, 0.501]
inline constexpr double binaryExponentialF64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c59dp-3,  0x1.c6b08d704a0d7p-5,  0x1.3b2ab6fba0fb4p-7,
    0x1.5d87fe78b3374p-10, 0x1.4309130c6fbdfp-13, 0x1.ffcbfbfb211f3p-17, 0x1.62bfccc9e54efp-20,
    0x1.b526085c9593dp-24, 0x1.e6138312117d1p-28, 0x1.e817f90131fd5p-32,
};
inline constexpr Table binaryExponential = {.f32 = binaryExponentialF32, .f64 = binaryExponentialF64};

// sinh(r) = r + r^3 P(r^2)
// error 2^-34.3 on [0, 0.12059]
inline constexpr double hyperbolicSineF32[] = {
    0x1.555556p-3,
    0x1.110fbep-7,
    0x1.a2e2bcp-13,
};
// error 2^-61.7 on [0, 0.12059]
inline constexpr double hyperbolicSineF64[] = {
    0x1.5555555555559p-3, 0x1.111111110f625p-7, 0x1.a01a01b024498p-13, 0x1.71ddf7a10297bp-19, 0x1.af6015a16d3b5p-26,
};
inline constexpr Table hyperbolicSine = {.f32 = hyperbolicSineF32, .f64 = hyperbolicSineF64};

// cosh(r) = 1 + r^2 P(r^2)
// error 2^-33.3 on [0, 0.12059]
inline constexpr double hyperbolicCosineF32[] = {
    0x1.000000p-1,
    0x1.5554e6p-5,
    0x1.6d4f3cp-10,
};
// error 2^-58.0 on [0, 0.12059]
inline constexpr double hyperbolicCosineF64[] = {
    0x1.000000000000cp-1, 0x1.555555554fd33p-5, 0x1.6c16c186527f1p-10, 0x1.a01994b446529p-16, 0x1.28b2133896bc9p-22,
};
inline constexpr Table hyperbolicCosine = {.f32 = hyperbolicCosineF32, .f64 = hyperbolicCosineF64};

// tanh(x) = x + x^3 P(x^2)
// error 2^-29.7 on [0, 0.3025]
inline constexpr double hyperbolicTangentF32[] = {
    -0x1.55554ap-2, 0x1.110ceep-3, -0x1.b91e80p-5, 0x1.58e542p-6, -0x1.99232ap-8,
};
// error 2^-60.6 on [0, 0.3025]
inline constexpr double hyperbolicTangentF64[] = {
    -0x1.555555555554fp-2,  0x1.1111111110790p-3,  -0x1.ba1ba1b97cb31p-5,  0x1.664f485940b46p-6,
    -0x1.226e2f0e5d450p-7,  0x1.d6d29aa1de55bp-9,  -0x1.7d8fc782e92eap-10, 0x1.34834c2c78d13p-11,
    -0x1.e96bf18e2998ep-13, 0x1.5d69a4d60eb67p-14, -0x1.46f7541a372d9p-16,
};
inline constexpr Table hyperbolicTangent = {.f32 = hyperbolicTangentF32, .f64 = hyperbolicTangentF64};

// log(1 + f) = f - f^2/2 + f^3/2 P(f)
// error 2^-27.3 on [-0.29299, 0.41431]
inline constexpr double logarithmF32[] = {
    0x1.555554p-1, -0x1.000226p-1, 0x1.99a01cp-2, -0x1.547274p-2,
    0x1.22d8fcp-2, -0x1.0d8362p-2, 0x1.0561c4p-2, -0x1.38cb44p-3,
};
inline constexpr Table logarithm = {.f32 = logarithmF32};

// 2 atanh(s) = 2 s + s z P(z), z = s^2
// error 2^-59.5 on [0, 0.029449]
inline constexpr double logarithmByQuotientF64[] = {
    0x1.5555555555592p-1, 0x1.999999997ff17p-2, 0x1.24924941e2416p-2, 0x1.c71c5212c0eefp-3,
    0x1.74663d6cc44e9p-3, 0x1.39a1d7572fb37p-3, 0x1.2f049808cb0efp-3,
};
inline constexpr Table logarithmByQuotient = {.f64 = logarithmByQuotientF64};

// atanh(s) = s + s z (1/3 + z P(z)), z = s^2
// error 2^-36.8 on [0, 0.029449]
inline constexpr double quotientTailF32[] = {
    0x1.999a00p-3,
    0x1.245278p-3,
    0x1.dfa3b6p-4,
};
// error 2^-73.5 on [0, 0.029449]
inline constexpr double quotientTailF64[] = {
    0x1.9999999999996p-3, 0x1.2492492492f51p-3, 0x1.c71c71c596876p-4, 0x1.745d18295f896p-4,
    0x1.3b1364c579efbp-4, 0x1.11206ff4fcf9ap-4, 0x1.de3d4938122e9p-5, 0x1.eac742ad5dbc8p-5,
};
inline constexpr Table quotientTail = {.f32 = quotientTailF32, .f64 = quotientTailF64};

// sin(r) = r + r^3 P(r^2)
// error 2^-27.8 on [0, 0.62925]
inline constexpr double sineF32[] = {
    -0x1.555544p-3,
    0x1.1106c6p-7,
    -0x1.991c24p-13,
};
// error 2^-57.7 on [0, 0.62925]
inline constexpr double sineF64[] = {
    -0x1.5555555555547p-3, 0x1.111111110f573p-7,   -0x1.a01a019bada99p-13,
    0x1.71de351f260b3p-19, -0x1.ae5e1fb48b000p-26, 0x1.5d7e45e6910a7p-33,
};
inline constexpr Table sine = {.f32 = sineF32, .f64 = sineF64};

// cos(r) = 1 - r^2/2 + r^4 P(r^2)
// error 2^-32.7 on [0, 0.62925]
inline constexpr double cosineF32[] = {
    0x1.55554ap-5,
    -0x1.6c0c14p-10,
    0x1.99de6ap-16,
};
// error 2^-63.7 on [0, 0.62925]
inline constexpr double cosineF64[] = {
    0x1.5555555555549p-5,   -0x1.6c16c16c14bcfp-10, 0x1.a01a019c24ec6p-16,
    -0x1.27e4f7a4eb7e9p-22, 0x1.1ee9a7a66a2dbp-29,  -0x1.8f8b72a2e3118p-37,
};
inline constexpr Table cosine = {.f32 = cosineF32, .f64 = cosineF64};

// atan(t) = t + t^3 P(t^2)
// error 2^-30.4 on [0, 0.17174]
inline constexpr double arcTangentF32[] = {
    -0x1.55554ap-2, 0x1.9991e0p-3, -0x1.23b964p-3, 0x1.b21fb6p-4, -0x1.f2c9f0p-5,
};
// error 2^-59.4 on [0, 0.17174]
inline constexpr double arcTangentF64[] = {
    -0x1.555555555553cp-2, 0x1.999999999564ep-3, -0x1.24924922a0683p-3, 0x1.c71c70e10795ap-4,
    -0x1.745cf84baa753p-4, 0x1.3b110f0336902p-4, -0x1.10eb44dc12393p-4, 0x1.df08b11d6d33dp-5,
    -0x1.9cb4cbafa4494p-5, 0x1.37891082588f1p-5, -0x1.24c187a2908f3p-6,
};
inline constexpr Table arcTangent = {.f32 = arcTangentF32, .f64 = arcTangentF64};

// asin(s) = s + s^3 P(s^2)
// error 2^-27.6 on [0, 0.25]
inline constexpr double arcSineF32[] = {
    0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bbap-5, 0x1.8c3e3cp-6, 0x1.595c66p-5,
};
// error 2^-59.9 on [0, 0.25]
inline constexpr double arcSineF64[] = {
    0x1.5555555555577p-3, 0x1.333333332e130p-4,  0x1.6db6db721278fp-5, 0x1.f1c71a94eb36bp-6, 0x1.6e8bdee130df3p-6,
    0x1.1c49f04b1f913p-6, 0x1.ca1f8f1deb68dp-7,  0x1.75857c2937742p-7, 0x1.613cd51c2bcabp-7, 0x1.e5f17dd3ab04ap-9,
    0x1.639d9578297b7p-6, -0x1.57fef3a6d0d86p-6, 0x1.0b4726c97689bp-5,
};
inline constexpr Table arcSine = {.f32 = arcSineF32, .f64 = arcSineF64};

// erf(x) = x + x P(x^2)
// error 2^-29.4 on [1e-09, 1]
inline constexpr double errorFunctionF32[] = {
    0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2ce6p-4, -0x1.b7f71ap-6, 0x1.53f224p-8, -0x1.a3515ep-11, 0x1.4771fep-14,
};
// error 2^-56.3 on [1e-09, 1]
inline constexpr double errorFunctionF64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a31p-2,  0x1.ce2f21a046ba2p-4,  -0x1.b82ce313e194bp-6,
    0x1.565bcd4b1ce98p-8,  -0x1.c02dc0bc45d44p-11, 0x1.f9a4de82db678p-14, -0x1.f4fa1aed32f2ep-17,
    0x1.bc5ceb969d602p-20, -0x1.7a41f59fa13acp-23, 0x1.c37f81bd83dabp-26, -0x1.140a385265731p-27,
    0x1.4fe2dab05e51ap-29, -0x1.91166ffca7bcep-32,
};
inline constexpr Table errorFunction = {.f32 = errorFunctionF32, .f64 = errorFunctionF64};

// log(1 - erf(x)) = P(x), weighed for 1 - exp(P(x))
// error 2^-29.8 on [1, 4.01]
inline constexpr double logErrorComplementF32[] = {
    -0x1.663c4ap-12, -0x1.2088e2p+0, -0x1.46bb0cp-1, -0x1.a65246p-4, 0x1.65c954p-6, -0x1.825620p-9, 0x1.86d482p-13,
};
inline constexpr Table logErrorComplement = {.f32 = logErrorComplementF32};

// exp(a^2) erfc(a) (1 + 2 a) = P((a - c) / (a + c)), c = 3 for f32 and 4 for f64; the lowest coefficient in two parts
// error 2^-28.4 on [-1, 0.54887]
inline constexpr double scaledErrorComplementF32[] = {
    0x1.40c522p+0, 0x1.b7f0dcp-25, -0x1.15c08ap-3, -0x1.85a19cp-5, 0x1.098426p-3,   -0x1.e8885ap-4,
    0x1.17bc28p-4, -0x1.85efa2p-6, 0x1.50b0f4p-9,  0x1.070564p-9,  -0x1.9661e6p-11, -0x1.192540p-12,
};
// error 2^-59.3 on [-1, 0.74603]
inline constexpr double scaledErrorComplementF64[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.a203b37c4fbd4p-55, -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd6ffp-7,
    0x1.16ecefcfa547ap-4,   -0x1.9ddb23c3e8ab4p-4,  0x1.7fee004e10170p-4,   -0x1.0fb06dfe5361fp-4,
    0x1.3079edf6d0fa5p-5,   -0x1.09623882eb30dp-6,  0x1.49c6726f5b167p-8,   -0x1.8d4a9c0eb406fp-11,
    -0x1.a1df15deaedd2p-13, 0x1.3be0684742d80p-13,  -0x1.995ae0055867ep-16, -0x1.788d46ed0e2b2p-17,
    0x1.7f356a7140e7fp-18,  0x1.3bc450eddb8cap-22,  -0x1.bb7e7de76736fp-21, 0x1.3e7689deb67a7p-24,
    0x1.da4e25ab12b37p-24,  -0x1.2be5db16f7b6fp-26, -0x1.e4b8c0f060ff6p-27, 0x1.c80d776d69731p-30,
    0x1.48cadaee705a5p-30,
};
inline constexpr Table scaledErrorComplement = {.f32 = scaledErrorComplementF32, .f64 = scaledErrorComplementF64};

} // namespace nacre::elementary::tables
