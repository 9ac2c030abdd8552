# find_package(hinge) gives the target hinge::hinge.
include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/hinge-targets.cmake")
