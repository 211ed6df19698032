// See Passes.h.
#include "compiler/passes/gpu/Passes.h"
#include "compiler/passes/gpu/AssignLayouts.h"
#include "compiler/passes/gpu/HoistDescriptors.h"
#include "compiler/passes/gpu/OrderAccesses.h"
#include "compiler/passes/gpu/PlaceBarriers.h"
#include "compiler/passes/gpu/PlaceShared.h"
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "compiler/passes/gpu/Specialize.h"
#include "compiler/passes/gpu/StageBoxes.h"

using namespace mlir;
using namespace nacre::simt;

void nacre::simt::registerGpuPasses() {
  registerPass([] { return createHoistDescriptors(); });
  registerPass([] { return createAssignLayouts(); });
  registerPass(createOrderAccesses);
  registerPass([] { return createSoftwarePipeline(); });
  registerPass([] { return createSpecialize(); });
  registerPass(createStageBoxes);
  registerPass(createPlaceShared);
  registerPass(createPlaceBarriers);
}
