// The Chebyshev series of the special functions, lowest first, as special_functions.py prints them.
#pragma once

namespace nacre::special {

// (1 + 2 x) erfcx(x), x >= 0, in (x - 4) / (x + 4)
inline constexpr double erfcxSeries[] = {
    0x1.2d6f89fde5d31p+0,   -0x1.dbd7f406f0499p-8,  -0x1.4cdca869ad5c3p-4,  0x1.ec465395e4195p-5,
    -0x1.d71abf3cb584ep-6,  0x1.5b32ddd011bcbp-7,   -0x1.9b29d047b35d8p-9,  0x1.86ef5f940a354p-11,
    -0x1.1f3f05651159ap-13, 0x1.204c1fa3be6c7p-16,  -0x1.804fd072268f5p-21, -0x1.04813a1b8a43fp-22,
    0x1.df061781bececp-25,  -0x1.216acaa8bc34bp-29, -0x1.421950d8f4ea7p-30, 0x1.a3fa2e79e6fdep-33,
    0x1.efb3e315738f5p-37,  -0x1.e59f50c0d2a6dp-38, 0x1.9ce35d0f342aap-44,  0x1.e31cd1e31c253p-43,
    -0x1.091c39299cbc7p-46, -0x1.e08757ddb404fp-48, 0x1.b09c53938c643p-51,  0x1.ffeb28f8a7c30p-53,
    -0x1.246d137a7141bp-55, -0x1.2e4a1567a7226p-57,
};

// log gamma(x) / ((x - 1) (x - 2)), 1 <= x <= 3, in x - 2
inline constexpr double logGammaSeries[] = {
    0x1.c415b2f77d216p-2,  -0x1.c775402458f9ap-4,  0x1.3fa8c04d6ff67p-6,  -0x1.010ffbb4197b6p-8,
    0x1.bc8b1371eaccbp-11, -0x1.91af7a54a9a64p-13, 0x1.75ab04d1df215p-15, -0x1.62c44ca024f08p-17,
    0x1.55e927ae8795fp-19, -0x1.4d5177a7d60b9p-21, 0x1.47e471139787bp-23, -0x1.44ed14f25b644p-25,
    0x1.43f273ad94382p-27, -0x1.44a179f50c1b4p-29, 0x1.46bfea7d6632ap-31, -0x1.4a246834853afp-33,
    0x1.4eb16ce023178p-35, -0x1.5452009c24af3p-37, 0x1.5af787a242489p-39, -0x1.629841b59e381p-41,
    0x1.6b2e3df5629bfp-43, -0x1.74b69ccd76d6bp-45, 0x1.7f31077ff8c5cp-47, -0x1.8a9f4d3a81e40p-49,
    0x1.97051afff88bcp-51, -0x1.a467c71e3093cp-53, 0x1.b2ce2b26c6f85p-55, -0x1.c24088e35be62p-57,
    0x1.d2c877c28febbp-59, -0x1.e470d8ef6ec7bp-61,
};

// J0(x), x <= 8, in x^2 / 32 - 1
inline constexpr double j0Series[] = {
    0x1.4306e1f9314dbp-3,  -0x1.1dd989ce98ea2p-7,  0x1.0f8afb7d3a552p-2,  -0x1.7afa2e9c62a9ep-2,
    0x1.43b8af58b7ffap-3,  -0x1.1dd989ce98ea2p-5,  0x1.3bd46ccab9da0p-8,  -0x1.e300651cd3ae3p-12,
    0x1.104c067d74d17p-15, -0x1.d8f811cd3e853p-20, 0x1.46c4a4b32aa3bp-24, -0x1.703bda6758f6fp-29,
    0x1.593076e904d04p-34, -0x1.1192067e71726p-39, 0x1.73936aa3d0207p-45, -0x1.b5729d242acaep-51,
    0x1.c2c89ea282aaap-57,
};

// J1(x) / x, x <= 8, in x^2 / 32 - 1
inline constexpr double j1Series[] = {
    0x1.4bf5ae47a6150p-4,  -0x1.3119e17fdbffdp-3,  0x1.49b9fb3408e33p-3,  -0x1.52a8c7827daa8p-4,
    0x1.6bf2c1f5f71e1p-6,  -0x1.de030538b55b0p-9,  0x1.a8b56cedfe580p-12, -0x1.11188227a5012p-15,
    0x1.0a8a3a628fc7bp-19, -0x1.98f754605f635p-24, 0x1.fac17c7273311p-29, -0x1.030d00d42d6f4p-33,
    0x1.bcc0916376113p-39, -0x1.453d2b4e985cbp-44, 0x1.9a36afedba862p-50, -0x1.c2dff424052f8p-56,
};

// Y0(x) - 2 / pi log(x) J0(x), x <= 8, in x^2 / 32 - 1
inline constexpr double y0Series[] = {
    -0x1.0f88700652ecbp-5,  -0x1.190fcad75eca2p-2, 0x1.6ea98ade961a1p-3,   0x1.0bd84f7777bd6p-2,
    -0x1.6b1d515347a69p-3,  0x1.82a2a1c96271fp-5,  -0x1.dd9fb881100e6p-8,  0x1.8ad9320695af0p-11,
    -0x1.d873fa854ed4dp-15, 0x1.ae5f9e7adde46p-19, -0x1.35649a4058471p-23, 0x1.68b1c63f94e89p-28,
    -0x1.5c457ea1daccep-33, 0x1.1b53ed8a54178p-38, -0x1.89f1fa5209ce6p-44, 0x1.d9b425efafdd8p-50,
    -0x1.f1a7711576130p-56,
};

// (Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, x <= 8, in x^2 / 32 - 1
inline constexpr double y1Series[] = {
    0x1.4ca997b04b826p-9,   -0x1.07927e87fd36bp-6, -0x1.88db11a1e0337p-4,  0x1.59ea4fc627f66p-4,
    -0x1.d020c3798a51ap-6,  0x1.5aadc0f38e31dp-8,  -0x1.504ea6f6291cdp-11, 0x1.cde014f53622dp-15,
    -0x1.dadf80f6e35f9p-19, 0x1.7c45af600d3dcp-23, -0x1.e8a21e8e1cb71p-28, 0x1.01c33ee943bc5p-32,
    -0x1.c6f1d25aa2e2ap-38, 0x1.54fcf661706ffp-43, -0x1.b7b8e4b5d24fcp-49, 0x1.ed24ebd671b40p-55,
    -0x1.e58358b5996e3p-61,
};

// of J0 and Y0 from x = 8 on, in 128 / x^2 - 1: beside the cosine
inline constexpr double wave0Cosine[] = {
    0x1.ffb944543151ep-1,  -0x1.194ac5283c04ap-11, 0x1.9cbe8b7395851p-19, -0x1.bc26938a82ce2p-25,
    0x1.c03a8b38ca73cp-30, -0x1.59ddcc28538a8p-34, 0x1.6baf23642c655p-38, -0x1.e4a709e74825bp-42,
    0x1.85b481672b1eep-45, -0x1.6d432cb7153fep-48, 0x1.84fff80b613c2p-51, -0x1.cdb3179595bbdp-54,
    0x1.2cca86c6338d9p-56, -0x1.a9240bf60d14bp-59,
};

// x times what is beside the sine
inline constexpr double wave0Sine[] = {
    -0x1.fdbbf76547cafp-4,  0x1.1ed40c7bf4761p-11, -0x1.8e1017183d060p-18, 0x1.34c3b3f0f3e19p-23,
    -0x1.8fc71e52a5280p-28, 0x1.7334b27ad2886p-32, -0x1.c34f407df8ba4p-36, 0x1.52763be90a889p-39,
    -0x1.2c827d7f6e2d5p-42, 0x1.329f0c1b6c666p-45, -0x1.5fa3147b301c9p-48, 0x1.bd9648f62c6b8p-51,
    -0x1.33cdb710c05d6p-53, 0x1.cab223df72976p-56, -0x1.6d757f20d1676p-58, 0x1.351cf3ac934b3p-60,
    -0x1.13e5616eb61b8p-62,
};

// of J1 and Y1 from x = 8 on, in 128 / x^2 - 1: beside the cosine
inline constexpr double wave1Cosine[] = {
    0x1.003b2e82f5f12p+0,   0x1.d7545f75d7da9p-11, -0x1.0b9505ce79bbap-18, 0x1.0953cdc0829efp-24,
    -0x1.01454cf5d6ac0p-29, 0x1.83c5742be2cc3p-34, -0x1.9171afe32fc02p-38, 0x1.088a8b6783e50p-41,
    -0x1.a5ead8bea617fp-45, 0x1.88e8192bcb004p-48, -0x1.a045d1e6aa4e8p-51, 0x1.ebf5d803cd896p-54,
    -0x1.3f5b1671b84fbp-56, 0x1.c1ff43803bc35p-59,
};

// x times what is beside the sine
inline constexpr double wave1Sine[] = {
    0x1.7f34213492af6p-2,  -0x1.93d0e4fa70662p-11, 0x1.eaa02bf61504bp-18, -0x1.681617e8645adp-23,
    0x1.c467999a69933p-28, -0x1.9c37875f5ebc0p-32, 0x1.eeb91abca8164p-36, -0x1.6f877e53fb185p-39,
    0x1.43f8057a1761fp-42, -0x1.48ac416e30219p-45, 0x1.772d4dd737bf2p-48, -0x1.d994b1fddb9f0p-51,
    0x1.46123a8bbc898p-53, -0x1.e48d4f144b8b2p-56, 0x1.811d207bb2e69p-58, -0x1.4508fb9daded8p-60,
};

// exp(-x) I0(x), x <= 8, in x / 4 - 1
inline constexpr double i0Series[] = {
    0x1.5a84e9035a22ap-2,  -0x1.37febc057cd8dp-2,  0x1.5f7ac77ac88c0p-3,  -0x1.84b70342d06eap-4,
    0x1.93e8acea8a32dp-5,  -0x1.84e9ef121b6f0p-6,  0x1.59961f3dde3ddp-7,  -0x1.1b65e201aa849p-8,
    0x1.adc758a12100ep-10, -0x1.2e2fd1f15eb52p-11, 0x1.8b51b74107cabp-13, -0x1.e2b2659c41d5ap-15,
    0x1.13f58be9a2859p-16, -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20, -0x1.1ec638f227f8dp-22,
    0x1.03b769d4d6435p-24, -0x1.beaf68c0b30abp-27, 0x1.6d903a454cb34p-29, -0x1.1d4fe13ae9556p-31,
    0x1.a98becc743c10p-34, -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39, -0x1.1164c62ee1af0p-41,
    0x1.59b464b262627p-44, -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50, -0x1.184eb721ebbb4p-52,
    0x1.33362977da589p-55, -0x1.45cb72134d0efp-58,
};

// exp(-x) I1(x) / x, x <= 8, in x / 4 - 1
inline constexpr double i1Series[] = {
    0x1.02a63724a7ffap-3,  -0x1.694d10469192ep-3,  0x1.a46dad536f53cp-4,  -0x1.b1bbc537c9ebcp-5,
    0x1.951e3e7bb2349p-6,  -0x1.5a29f7913a26ap-7,  0x1.1065349d3a1b4p-8,  -0x1.8cc620b3cd4a4p-10,
    0x1.0c95db6c6df7dp-11, -0x1.533cad3d694fep-13, 0x1.911b542c70d0bp-15, -0x1.bd5f9b8debbcfp-17,
    0x1.d1c4ed511afc5p-19, -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23, -0x1.7dd3e24b8c3e8p-25,
    0x1.4258e02395010p-27, -0x1.0361b28ea67e6p-29, 0x1.8ea34b43fdf6cp-32, -0x1.2510397eb07dep-34,
    0x1.9cee2b21d3154p-37, -0x1.173835fb70366p-39, 0x1.6af784779d955p-42, -0x1.c628e1c8f0b3bp-45,
    0x1.11d7f0615290cp-47, -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53, -0x1.857d0c38a0576p-56,
    0x1.99f2a0c3c4014p-59,
};

// sqrt(x) exp(-x) I0(x), x >= 8, in 16 / x - 1
inline constexpr double i0Tail[] = {
    0x1.9be62aca809cbp-2,   0x1.b998ca2e59049p-9,   0x1.20fa378999e52p-14,  0x1.8412bc101c586p-19,
    0x1.b8007d9cd616ep-23,  0x1.8569280d6d56dp-26,  0x1.d2c64a9225b87p-29,  0x1.0f9ccc0f46f75p-31,
    0x1.a24feabe8004fp-37,  -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
    0x1.94347fa268cecp-41,  0x1.b1c8c6b83c073p-42,  0x1.156ff0d5fc545p-46,  -0x1.75d99cf68bb32p-45,
    -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48,  0x1.fee7da3eafb1fp-50,  -0x1.8aee7d908de38p-52,
    -0x1.4600babd21fe4p-52, 0x1.3f3dd076041cdp-55,  0x1.9be1812d98421p-55,  -0x1.646da66119130p-58,
    -0x1.0adb754ca8b19p-57, 0x1.24d48c789b293p-60,  0x1.604db61ad3debp-60,
};

// sqrt(x) exp(-x) I1(x), x >= 8, in 16 / x - 1
inline constexpr double i1Tail[] = {
    0x1.8ea18b55b1514p-2,   -0x1.3fda053fcdb4cp-7,  -0x1.cfd7f804aa9a6p-14, -0x1.048df49ca0373p-18,
    -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26, -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31,
    -0x1.4dcf9d4504c0cp-36, 0x1.1e1a1f1587865p-35,  0x1.f101f653c457bp-37,  0x1.1e7d3f6439fa3p-39,
    -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46, 0x1.80d3c26b3281ep-45,
    0x1.776e1762d31e8p-47,  -0x1.12db5138afbc7p-48, -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52,
    0x1.55915fceb588ap-52,  -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55, 0x1.45b8aea87b950p-58,
    0x1.1556db352e8e6p-57,  -0x1.12e7f21d2c006p-60, -0x1.6ea1785f94461p-60,
};

} // namespace nacre::special
