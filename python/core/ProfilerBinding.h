// The profiler in Python: nacre.profiler is written over these. While a session is active it listens to the runtime's
// events (runtime/Events.h).
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

// profiler_start(name, frames are Python's, is a trace, looks inside of kernels, microseconds between samples of their
// lines or 0) -> session
PyObject *profilerStart(PyObject *module, PyObject *args);
// profiler_set_active(session or None, whether)
PyObject *profilerSetActive(PyObject *module, PyObject *args);
// profiler_trace(driver's name, cycles between samples of kernels' lines or 0) -> why it cannot tell of every kernel
// that its devices run, or "": it does from now on; profiler_trace(None): no driver does any more
PyObject *profilerTrace(PyObject *module, PyObject *args);
// profiler_wait() -> what the user ought to hear, or "": all launches have been recorded then
PyObject *profilerWait(PyObject *module, PyObject *);
// profiler_device_types(session, phase) -> types of the devices that kernels ran on
PyObject *profilerDeviceTypes(PyObject *module, PyObject *args);
// profiler_sessions() -> [(session, name, is active, is a trace)]
PyObject *profilerSessions(PyObject *module, PyObject *);
// profiler_close(session)
PyObject *profilerClose(PyObject *module, PyObject *session);
// profiler_enter_scope(name) -> scope; profiler_exit_scope(name or None) -> scope
PyObject *profilerEnterScope(PyObject *module, PyObject *name);
PyObject *profilerExitScope(PyObject *module, PyObject *name);
// The base of nacre.profiler.scope (ProfilerScope.cpp).
Handle makeProfilerScopeType();
// profiler_depth() -> how many scopes are open on this thread; profiler_leave_scopes()
PyObject *profilerDepth(PyObject *module, PyObject *);
PyObject *profilerLeaveScopes(PyObject *module, PyObject *);
// profiler_add_metrics(scope, metrics): to the frame that is open
PyObject *profilerAddMetrics(PyObject *module, PyObject *args);
// Metrics of graphs, whose values a kernel notes at each replay. profiler_capture_metric(number, frame or ""): the
// kernel that this thread captures next notes that one. profiler_replayed_metric(number, metrics) -> whether a replay
// was seen whose value it is: the metrics are its frame's
PyObject *profilerCaptureMetric(PyObject *module, PyObject *args);
PyObject *profilerReplayedMetric(PyObject *module, PyObject *args);
// profiler_enter_state(name), profiler_exit_state()
PyObject *profilerEnterState(PyObject *module, PyObject *name);
PyObject *profilerExitState(PyObject *module, PyObject *);
// profiler_enter_operation(name, metrics), profiler_exit_operation(): the frame of the launches in between
PyObject *profilerEnterOperation(PyObject *module, PyObject *args);
PyObject *profilerExitOperation(PyObject *module, PyObject *);
// profiler_operators([(name, begin, end, thread, frames)], whether more will come); profiler_now(): the steady clock, in
// nanoseconds; profiler_wants_frames(): whether a session that is active has the call stack
PyObject *profilerOperators(PyObject *module, PyObject *args);
PyObject *profilerWantsFrames(PyObject *module, PyObject *);
// profiler_marks(whether marks are kept from now on) -> (programs, marks) of the last launch, or None
PyObject *profilerMarks(PyObject *module, PyObject *isKept);
PyObject *profilerNow(PyObject *module, PyObject *);
// nvtx_is_on() -> whether this process runs under a tool that wants ranges (profiler/NvtxRanges.h); compiles are ranges
// from the first call on. nvtx_range(name): one begins on this thread; nvtx_range(None): it ends
PyObject *nvtxIsOn(PyObject *module, PyObject *);
PyObject *nvtxRange(PyObject *module, PyObject *name);
// profiler_span(name, begin, end): of the steady clock, in nanoseconds
PyObject *profilerSpan(PyObject *module, PyObject *args);
// profiler_document(session, phase, format, devices as JSON) -> text, or bytes of hatchet_msgpack
PyObject *profilerDocument(PyObject *module, PyObject *args);
// profiler_phase(session) -> phase; profiler_advance(session) -> phase; profiler_clear(session, phase, and those
// before)
PyObject *profilerPhase(PyObject *module, PyObject *session);
PyObject *profilerAdvance(PyObject *module, PyObject *session);
PyObject *profilerClear(PyObject *module, PyObject *args);

} // namespace nacre::python
