# LLVM and MLIR 22 as static archives.
#
# Debian's MLIR targets name the shared LLVM in their link interface, and LLVMSupport names shared zstd and z3. Linking
# statically needs both taken out: every MLIR target loses `LLVM`, and LLVMSupport gets static zlib and zstd instead.
find_package(MLIR REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

get_property(all_mlir_libraries GLOBAL PROPERTY MLIR_STATIC_LIBS)
set(nacre_mlir_archives ${MLIR_EXPORTED_TARGETS} ${all_mlir_libraries})
foreach(library ${nacre_mlir_archives})
  if(TARGET ${library})
    get_target_property(interface ${library} INTERFACE_LINK_LIBRARIES)
    if(interface)
      list(REMOVE_ITEM interface LLVM)
      set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${interface}")
    endif()
  endif()
endforeach()

set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
  "$<LINK_ONLY:LLVMDemangle>;libz.a;libzstd.a;rt;dl;m;pthread")

# What the compiler libraries link. One list, so that the archives are named once.
add_library(nacre_mlir INTERFACE)
target_include_directories(nacre_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_link_libraries(nacre_mlir INTERFACE
  MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils MLIRSupport MLIRAnalysis
  MLIRArithDialect MLIRArithTransforms MLIRArithToLLVM MLIRMathDialect MLIRMathTransforms MLIRMathToLLVM
  MLIRFuncDialect MLIRFuncToLLVM MLIRSCFDialect MLIRSCFTransforms MLIRSCFUtils MLIRSCFToControlFlow
  MLIRControlFlowDialect MLIRControlFlowToLLVM MLIRVectorDialect MLIRVectorTransforms MLIRVectorToLLVM MLIRVectorToLLVMPass
  MLIRUBDialect MLIRUBToLLVM MLIRTensorDialect MLIRMemRefDialect MLIRIndexDialect MLIRIndexToLLVM
  MLIRLLVMDialect MLIRLLVMIRTransforms MLIRLLVMCommonConversion MLIRReconcileUnrealizedCasts
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRTargetLLVMIRExport MLIROptLib MLIRDebug)

llvm_map_components_to_libnames(nacre_llvm_components
  Core Support Passes OrcJIT JITLink OrcShared OrcTargetProcess OrcDebugging RuntimeDyld ExecutionEngine Target TargetParser MC Object
  X86CodeGen X86AsmParser X86Desc X86Info X86Disassembler NVPTXCodeGen NVPTXDesc NVPTXInfo ipo InstCombine ScalarOpts Vectorize AsmParser IRReader Linker BitReader BitWriter)
add_library(nacre_llvm INTERFACE)
target_include_directories(nacre_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(nacre_llvm INTERFACE ${nacre_llvm_components})
target_link_libraries(nacre_mlir INTERFACE nacre_llvm)

# What the simulator of AMD's machine code links besides: the decoder of AMDGPU, but not its code generator.
llvm_map_components_to_libnames(nacre_amdgpu_components AMDGPUDesc AMDGPUInfo AMDGPUDisassembler MC Object DebugInfoDWARF BinaryFormat Support)
add_library(nacre_llvm_amdgpu INTERFACE)
target_include_directories(nacre_llvm_amdgpu SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(nacre_llvm_amdgpu INTERFACE ${nacre_amdgpu_components})

# What the HIP target links besides: AMDGPU's code generator and assembler.
llvm_map_components_to_libnames(nacre_amdgpu_code_components AMDGPUCodeGen AMDGPUAsmParser AMDGPUDesc AMDGPUInfo MC MCParser Object BinaryFormat)
add_library(nacre_llvm_amdgpu_code INTERFACE)
target_link_libraries(nacre_llvm_amdgpu_code INTERFACE ${nacre_amdgpu_code_components} nacre_llvm)
